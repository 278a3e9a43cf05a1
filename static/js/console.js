/* Small comforts; every page works without them. */
(() => {
  const THEMES = ["automatic", "light", "dark"];

  function showTheme(button) {
    const theme = document.documentElement.dataset.theme || "automatic";
    const name = button.querySelector("[data-theme-name]");
    name.textContent = name.dataset[theme];
  }

  function nextTheme(button) {
    const present = document.documentElement.dataset.theme || "automatic";
    const next = THEMES[(THEMES.indexOf(present) + 1) % THEMES.length];
    if (next === "automatic") {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem("theme");
    } else {
      document.documentElement.dataset.theme = next;
      localStorage.setItem("theme", next);
    }
    showTheme(button);
  }

  /* In a low window the menu is cut: where one is stays in sight. */
  document.querySelector(".sections [aria-current]")?.scrollIntoView({ block: "nearest" });

  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    button.hidden = false;
    showTheme(button);
    button.addEventListener("click", () => nextTheme(button));
  }

  /* A question closes when one looks elsewhere, or presses Escape. */
  const openOnes = () => document.querySelectorAll("details.confirm[open], details.switcher[open]");
  document.addEventListener("click", (event) => {
    for (const one of openOnes()) {
      if (!one.contains(event.target)) one.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const one of openOnes()) {
      one.open = false;
      one.querySelector("summary").focus();
    }
  });

  /* A form that was sent is not sent twice by a second press. */
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || event.defaultPrevented) return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    setTimeout(() => delete form.dataset.sent, 5000);
  });
})();
