/* Who pressed a button by keyboard goes on where it was, on the page that comes of it. */
(() => {
  const PRESSED = "pressed";
  const ROW = "tr[id], li[id]";
  let isByKeys = false;
  document.addEventListener("keydown", () => { isByKeys = true; }, true);
  document.addEventListener("pointerdown", () => { isByKeys = false; }, true);

  document.addEventListener("submit", (event) => {
    if (!isByKeys || event.defaultPrevented || event.target.method !== "post") return;
    const row = event.submitter?.closest(ROW);
    const beside = row && (row.nextElementSibling || row.previousElementSibling);
    sessionStorage.setItem(PRESSED, JSON.stringify([row?.id, beside?.id]));
  });

  /* The row, or the one that took its place, or else what is said of it. */
  function placeOf(ids) {
    for (const id of ids) {
      const row = id && document.getElementById(id);
      const link = row && (row.querySelector('a[id$="-link"]') || row.querySelector("a[href]"));
      if (link) return link;
    }
    const said = document.querySelector("#notices .notice");
    if (said) said.tabIndex = -1;
    return said;
  }

  const pressed = sessionStorage.getItem(PRESSED);
  sessionStorage.removeItem(PRESSED);
  if (!pressed || document.activeElement !== document.body) return;
  const place = placeOf(JSON.parse(pressed));
  place?.focus({ preventScroll: true });
  place?.scrollIntoView({ block: "nearest", behavior: "instant" });
})();
