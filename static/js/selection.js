/* Counts what is ticked, on the button that acts on it; the form works without this. */
(() => {
  const buttonsOf = (form) => [...form.querySelectorAll("[data-selected]")];
  /* Not form.id: that is the boxes, since they have this name. */
  const idOf = (form) => form.getAttribute("id");
  const boxesOf = (form) => [...document.querySelectorAll(`input[name="id"][form="${idOf(form)}"]`)];

  function show(form) {
    const buttons = buttonsOf(form);
    if (!buttons.length) return;
    const ticked = boxesOf(form).filter((box) => box.checked).length;
    for (const button of buttons) {
      button.querySelector("span").textContent = ticked
        ? `${button.dataset.selected} (${ticked})`
        : button.dataset.selected;
      button.disabled = ticked === 0;
    }
    const all = document.querySelector(`[data-select-all="${idOf(form)}"]`);
    if (!all) return;
    const boxes = boxesOf(form);
    all.hidden = boxes.length === 0;
    all.checked = boxes.length > 0 && ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
  }

  const showAll = () => document.querySelectorAll("form[id]").forEach(show);

  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches("[data-select-all]")) {
      const form = document.getElementById(box.dataset.selectAll);
      for (const one of boxesOf(form)) one.checked = box.checked;
      show(form);
    } else if (box.matches('input[name="id"]') && box.form) {
      show(box.form);
    }
  });
  document.addEventListener("htmx:afterSettle", showAll);
  window.addEventListener("pageshow", showAll);
  showAll();
})();
