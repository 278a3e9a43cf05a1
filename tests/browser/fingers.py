"""Where a finger would miss: what is smaller than WCAG 2.5.8 asks for."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

#: CSS pixels in both directions that have to react to the finger.
TARGET: Final = 24
#: What can be pressed and is too small.
#:
#: It counts what reacts, not what is drawn: a label reacts for its box, and so does the
#: air around a box.  A link within a sentence may be as high as its line, and a small
#: one may stand where a large one leads to the same place.
_SMALL: Final = """(target) => {
  const pressed = "a[href], button, summary, select, textarea, " +
    "input:not([type=hidden]), [role=button][tabindex]";
  const isLarge = (one) => {
    const box = one.getBoundingClientRect();
    return box.width >= target && box.height >= target;
  };
  const large = [...document.querySelectorAll("a[href]")].filter(isLarge);
  const leads = new Set(large.map((one) => one.getAttribute("href")));
  // Words stand beside it on its lines.
  const isInSentence = (one) => {
    if (getComputedStyle(one).display !== "inline") return false;
    const block = one.closest("p, dd, blockquote, li, span, label");
    if (!block) return false;
    const rest = block.cloneNode(true);
    for (const link of rest.querySelectorAll("a")) link.remove();
    return rest.textContent.trim().split(/\\s+/).length > 2;
  };
  const isSpared = (one) => !one.checkVisibility({ visibilityProperty: true }) ||
    !one.getClientRects().length || one.matches(".visually-hidden, :disabled") ||
    (one.matches("a") && (leads.has(one.getAttribute("href")) || isInSentence(one)));
  const reacts = (one, x, y) => {
    const hit = document.elementFromPoint(x, y);
    if (!hit) return false;
    const label = hit.closest("label");
    return one.contains(hit) || Boolean(label && label.control === one);
  };
  const isReached = (one) => {
    one.scrollIntoView({ block: "center", behavior: "instant" });
    const box = one.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const reach = target / 2 - 0.5;
    const ways = [];
    if (box.width < target) ways.push([x - reach, y], [x + reach, y]);
    if (box.height < target) ways.push([x, y - reach], [x, y + reach]);
    return ways.every((way) => reacts(one, ...way));
  };
  return [...document.querySelectorAll(pressed)]
    .filter((one) => !isLarge(one) && !isSpared(one) && !isReached(one))
    .map((one) => one.outerHTML.replace(/\\s+/g, " ").slice(0, 120));
}"""


def too_small(page: Page) -> list[str]:
    """Return what a finger would miss on the page that is shown."""
    found: list[str] = page.evaluate(_SMALL, TARGET)
    page.evaluate("window.scrollTo(0, 0)")
    return found
