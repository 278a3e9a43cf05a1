/* The rule's form: values are put in where one writes, and the mail's HTML shows by itself. */
(() => {
  const root = document.documentElement;
  root.dataset.script = "on";

  const WRITABLE = "#rule-form :is([name$=subject], [name$=text], [name$=html], [name$=title], [name$=words])";
  let lastWritten = null;

  document.addEventListener("focusin", (event) => {
    if (event.target.matches(WRITABLE)) lastWritten = event.target.id;
  });

  function insert(name) {
    const field = document.getElementById(lastWritten) || document.querySelector("#text, #words");
    if (!field) return;
    field.setRangeText(`{{ ${name} }}`, field.selectionStart, field.selectionEnd, "end");
    field.focus();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  document.addEventListener("click", (event) => {
    const value = event.target.closest("[data-variable]");
    if (value) insert(value.dataset.variable);
  });
  document.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.matches("[data-variable]")) {
      event.preventDefault();
      insert(event.target.dataset.variable);
    }
  });

  function settle() {
    for (const value of document.querySelectorAll("[data-variable]")) {
      value.tabIndex = 0;
      value.setAttribute("role", "button");
      value.title = document.getElementById("rule-form").dataset.insert;
    }
    const form = document.querySelector("[data-show-mail]");
    if (form && !form.dataset.shown) {
      form.dataset.shown = "yes";
      form.querySelector("button").hidden = true;
      form.submit();
    }
  }

  document.addEventListener("htmx:afterSettle", settle);
  document.addEventListener("DOMContentLoaded", () => {
    // Without htmx the buttons "Continue" and "Preview" do its work.
    if (!window.htmx) delete root.dataset.script;
    settle();
  });
})();
