/* Parts that ask for themselves again: not while hidden, paused or while somebody decides. */
(() => {
  const bar = document.querySelector("[data-refresh]");
  if (!bar) return;
  const words = bar.querySelector("[data-refresh-words]");
  const button = bar.querySelector("[data-refresh-switch]");
  const PLACE = `paused:${location.pathname}`;
  /* The page brings the words, in the reader's language. */
  const says = bar.dataset;
  const signs = JSON.parse(says.units);
  const UNITS = [[3600, signs.h], [60, signs.min], [1, signs.s]];
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
    return unit && seconds > 1 ? says.ago.replace("{span}", `${Math.floor(seconds / unit[0])}\u00a0${unit[1]}`) : says.justNow;
  }

  function tell() {
    bar.hidden = !hasPolls();
    if (bar.hidden) return;
    const pattern = paused ? says.pausedAsOf : isCut ? says.cutAsOf : isDeciding() ? says.waitsAsOf : says.updated;
    const text = pattern.replace("{ago}", ago());
    if (words.textContent !== text) words.textContent = text;
    button.textContent = paused ? button.dataset.resume : button.dataset.pause;
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
