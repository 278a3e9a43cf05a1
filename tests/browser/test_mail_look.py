"""The built-in look of mails, as a mail program's window shows it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tasks.outbound.layout import html_of

SCREENS = os.environ.get("SCREENS")
WIDTHS = {"desktop": 700, "phone": 390}
MESSAGE = {
    "subject": "Your recording tomorrow",
    "html": (
        "<h1>Good evening, Aurélie</h1>"
        "<p>Tomorrow at <strong>14:00</strong> we record <em>What the square hears at"
        " six</em>. Come a quarter of an hour before: the bells need to be shown.</p>"
        "<ul><li>A quiet place to sit is ready.</li><li>Water and tea are there.</li>"
        "</ul><p><a href='https://example.org/way'>How to find us</a></p>"
    ),
    "look": {"sender": "St. Bonifatius, Kirchplatz"},
    "locale": "en",
}
#: Relative luminance and contrast after WCAG 2.2, of text against what is behind it.
CONTRASTS = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('h1, p, li, a')]
    .filter((element) => element.checkVisibility() && element.innerText.trim())
    .map((element) => {
      const one = luminance(parts(getComputedStyle(element).color));
      const two = luminance(behind(element));
      const [dark, light] = [Math.min(one, two), Math.max(one, two)];
      return [element.innerText.slice(0, 30), (light + 0.05) / (dark + 0.05)];
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", WIDTHS)
def test_a_mail_fits_and_is_readable(chromium: Browser, size: str, scheme: str) -> None:
    context = chromium.new_context(
        viewport={"width": WIDTHS[size], "height": 560}, color_scheme=scheme
    )
    page = context.new_page()
    page.set_content(html_of(MESSAGE, "https://example.org/unsubscribe/x"))
    if SCREENS and size == "desktop":
        page.screenshot(path=Path(SCREENS) / f"mail-{size}-{scheme}.png")
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    contrasts = page.evaluate(CONTRASTS)
    context.close()
    assert overflow <= 0
    assert len(contrasts) >= 6
    assert [each for each in contrasts if each[1] < 4.5] == []
