/* Keys for the whole console, listed under "?"; off while one writes, and for who wants it. */
(() => {
  const help = document.getElementById("keys");
  if (!help) return;
  const LINK = "a[href]";
  const CHORD_FOR = 1500; // ms between "g" and its letter
  const PLACE = `row:${location.pathname}${location.search}`;
  const UP = "went-up";
  let chordSince = 0;

  const isOn = () => localStorage.getItem("keys") !== "off";
  const isWriting = (node) => node.isContentEditable || node.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=submit])");
  const isSeen = (node) => node.checkVisibility();

  /* A row's own link: the one that is named so, else its first. */
  const linkOf = (row) => row.querySelector('a[id$="-link"]') || [...row.querySelectorAll(LINK)].find(isSeen);
  const rows = () => [...document.querySelectorAll("main :is(table.table > tbody > tr, ol.lines > li, ol.timeline > li)")].filter((row) => isSeen(row) && linkOf(row));

  function reach(link) {
    link.dataset.reached = "yes";
    link.addEventListener("blur", () => delete link.dataset.reached, { once: true });
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  function step(by) {
    const all = rows();
    if (all.length === 0) return;
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
    reach(linkOf(all[next]));
  }

  function select() {
    const row = rows().find((one) => one.contains(document.activeElement));
    const box = row && row.querySelector('input[type="checkbox"]');
    if (box) box.click();
  }

  /* Up is where one came from, if that is the list; its place and rows are kept then. */
  function up() {
    const crumbs = document.querySelectorAll("main .crumbs a[href]");
    if (crumbs.length === 0) return;
    const list = crumbs[crumbs.length - 1];
    const from = document.referrer && new URL(document.referrer);
    const cameFromIt = from && from.origin === location.origin && from.pathname === new URL(list.href).pathname;
    sessionStorage.setItem(UP, "yes");
    if (cameFromIt) history.back();
    else list.click();
  }

  function search() {
    const box = [...document.querySelectorAll("main [data-search], main input[type=search]")].find(isSeen);
    if (!box) return false;
    box.focus();
    box.select();
    return true;
  }

  const press = (selector) => document.querySelector(selector)?.click();
  const showHelp = () => help.open || help.showModal();
  const DOES = {
    "/": search, "?": showHelp, j: () => step(1), k: () => step(-1), x: select, u: up,
    p: () => press("[data-refresh]:not([hidden]) [data-refresh-switch]"),
    g: () => { chordSince = Date.now(); },
  };

  function act(key) {
    const isChord = Date.now() - chordSince < CHORD_FOR;
    chordSince = 0;
    if (!isChord) return DOES[key] ? DOES[key]() : false;
    return press(`.sections a[data-key="${CSS.escape(key)}"]`);
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const node = document.activeElement || document.body;
    if (event.key === "Escape" && isWriting(node)) node.blur();
    if (event.key.length !== 1 || event.key === " " || !isOn() || isWriting(node) || help.open) return;
    if (act(event.key) !== false) event.preventDefault();
  });

  /* Who comes back to a list goes on where they left it. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(`main ${LINK}[id]`);
    if (link) sessionStorage.setItem(PLACE, link.id);
  });
  /* Who came to a row from elsewhere and goes up finds it in its list all the same. */
  function rowOfBefore() {
    const before = document.referrer && new URL(document.referrer);
    return before && before.origin === location.origin ? rows().map(linkOf).find((link) => link.pathname === before.pathname) : null;
  }
  /* At once, not when the last picture is there: one that hangs would leave them nowhere. */
  function comeBack() {
    const left = document.getElementById(sessionStorage.getItem(PLACE)) || rowOfBefore();
    if (left && document.activeElement === document.body) reach(left);
  }
  const [visit] = performance.getEntriesByType("navigation");
  const wentUp = sessionStorage.getItem(UP) !== null;
  sessionStorage.removeItem(UP);
  if (wentUp || (visit && visit.type === "back_forward")) comeBack();
  window.addEventListener("pageshow", (event) => event.persisted && comeBack());

  const choice = help.querySelector("[data-keys-switch]");
  choice.checked = isOn();
  choice.addEventListener("change", () => localStorage.setItem("keys", choice.checked ? "on" : "off"));
  for (const button of document.querySelectorAll("[data-keys-help]")) {
    button.hidden = false;
    button.addEventListener("click", showHelp);
  }
  document.querySelector("main [data-search]")?.setAttribute("aria-keyshortcuts", "/");
})();
