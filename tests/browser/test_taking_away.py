"""Taking rows away as a file: what an operator gets, and what stays in the house."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from playwright.sync_api import Page

from tests.browser import forms
from tests.browser.installation import Carillon

#: A spreadsheet would take these names for formulas.
FORMULA, CALL = '=HYPERLINK("http://x.example")', "@SUM(1+1)"
#: What is known of a person, and no file tells.
HIDDEN = {
    "phone": "+49 30 901820",
    "email": "zita@private.example",
    "address": "Mühlgasse 7",
    "notes": "Must not hear of the party",
}


def _taken(page: Page, button: str) -> str:
    """Press a button that gives a file; return what is in it."""
    with page.expect_download() as taken:
        page.get_by_role("button", name=button).click()
    return Path(taken.value.path()).read_text(encoding="utf-8-sig")


def test_an_operators_file_has_what_the_filter_leaves_no_formulas_and_no_secrets(
    page: Page, colleague: Page, parish: Carillon
) -> None:
    new = f"{parish.url}/members/new"
    forms.send(page, new, first_name=FORMULA, last_name="Zander", **HIDDEN)
    forms.send(page, new, first_name=CALL, last_name="Zander")
    forms.send(page, new, first_name="Emil", last_name="Other")

    colleague.goto(f"{parish.url}/?congregation={parish.slug}")
    colleague.goto(f"{parish.url}/members/")
    colleague.get_by_label("Search").fill("zander")
    with colleague.expect_navigation():
        colleague.get_by_label("Search").press("Enter")
    colleague.get_by_role("link", name="Export").click()
    table = _taken(colleague, "CSV: 2 members")
    told = _taken(colleague, "JSON: 2 members")

    rows = [*csv.DictReader(io.StringIO(table))]
    assert [row["last_name"] for row in rows] == ["Zander", "Zander"]
    assert {row["first_name"] for row in rows} == {f"'{FORMULA}", f"'{CALL}"}
    # Programs read JSON, and want what was typed.
    kept = json.loads(told)["rows"]
    assert {row["first_name"] for row in kept} == {FORMULA, CALL}
    for text in (table, told):
        assert "Other" not in text
        assert [hidden for hidden in HIDDEN.values() if hidden in text] == []
    page.goto(f"{parish.url}/members/?q=zander")
    page.get_by_role("link", name=FORMULA).click()
    for hidden in HIDDEN.values():  # it is known, and shown to who may see it
        assert hidden in page.content() or hidden in page.locator("main").inner_text()
