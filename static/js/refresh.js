/* Parts that ask for themselves again: not while hidden, paused or while somebody decides. */
(() => {
  const bar = document.querySelector("[data-refresh]");
  if (!bar) return;
  const words = bar.querySelector("[data-refresh-words]");
  const button = bar.querySelector("[data-refresh-switch]");
  const PLACE = `paused:${location.pathname}`;
  const UNITS = [[3600, "h"], [60, "min"], [1, "s"]];
  let paused = sessionStorage.getItem(PLACE) !== null;
  let answered = Date.now();
  let isCut = false;

  const isPoll = (element) => (element.getAttribute("hx-trigger") || "").startsWith("every ");
  const hasPolls = () => document.querySelector('[hx-trigger^="every "]') !== null;

  /* An open question, or marked text, must not change under the reader's hands. */
  function isDeciding() {
    if (document.querySelector("main details.confirm[open]")) return true;
    const marked = getSelection();
    return !marked.isCollapsed && document.querySelector("main").contains(marked.anchorNode);
  }

  function ago() {
    const seconds = Math.round((Date.now() - answered) / 1000);
    const unit = UNITS.find(([size]) => seconds >= size);
    return unit && seconds > 1 ? `${Math.floor(seconds / unit[0])} ${unit[1]} ago` : "just now";
  }

  function tell() {
    bar.hidden = !hasPolls();
    if (bar.hidden) return;
    const state = paused ? "Paused" : isCut ? "No answer" : isDeciding() ? "Waits for you" : "";
    const text = state ? `${state}: as of ${ago()}` : `Updated ${ago()}`;
    if (words.textContent !== text) words.textContent = text;
    button.textContent = paused ? "Resume" : "Pause";
    bar.toggleAttribute("data-paused", paused);
  }

  button.addEventListener("click", () => {
    paused = !paused;
    if (paused) sessionStorage.setItem(PLACE, "yes");
    else sessionStorage.removeItem(PLACE);
    tell();
  });

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (isPoll(event.detail.elt) && (paused || document.hidden || isDeciding())) event.preventDefault();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!isPoll(event.detail.requestConfig.elt)) return;
    if (paused || isDeciding()) event.detail.shouldSwap = false;
    else event.detail.swapOverride = "calm";
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!isPoll(event.detail.requestConfig.elt)) return;
    isCut = !event.detail.successful;
    if (!isCut) answered = Date.now();
    tell();
  });
  document.addEventListener("htmx:afterSettle", tell);

  /* The seconds tick only where somebody sees them. */
  let ticking = null;
  function tick() {
    clearInterval(ticking);
    ticking = document.hidden ? null : setInterval(tell, 1000);
    tell();
  }
  document.addEventListener("visibilitychange", tick);
  tick();
})();
