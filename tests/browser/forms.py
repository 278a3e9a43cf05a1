"""Forms sent without showing them: for what a test needs, and is not about."""

from __future__ import annotations

from urllib.parse import urlencode, urljoin

from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Page

#: Names and values in order; a name may stand there several times.
Fields = list[tuple[str, str]]
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def send(page: Page, address: str, /, **values: str) -> BeautifulSoup:
    """Send the first form in the content of a page; return the page that answers."""
    shown = page.request.get(address)
    assert shown.ok, f"{address}: {shown.status}"
    form = _form(shown.text())
    return post(page, urljoin(address, str(form["action"])), _with(form, values))


def post(page: Page, address: str, fields: Fields) -> BeautifulSoup:
    """Post what a form holds; return the page that answers."""
    answer = page.request.post(address, data=urlencode(fields), headers=_FORM)
    assert answer.ok, f"{address}: {answer.status}"
    return BeautifulSoup(answer.text(), "html.parser")


def press(page: Page, address: str, action: str) -> BeautifulSoup:
    """Press the button of a page that posts to ``action``."""
    shown = BeautifulSoup(page.request.get(address).text(), "html.parser")
    token = shown.select('input[name="csrf_token"]')[0]["value"]
    return post(page, urljoin(address, action), [("csrf_token", str(token))])


def filled_in(html: str, **values: str) -> Fields:
    """Return what the first form in the content of a page would send."""
    return _with(_form(html), values)


def _form(html: str) -> Tag:
    soup = BeautifulSoup(html, "html.parser")
    form = (soup.find("main") or soup).find("form", method="post")
    assert isinstance(form, Tag)
    return form


def _with(form: Tag, values: dict[str, str]) -> Fields:
    kept = [each for each in _fields(form) if each[0] not in values]
    return [*kept, *values.items()]


def _fields(form: Tag) -> Fields:
    return [
        (str(field["name"]), _value(field))
        for field in form.select("input[name], textarea[name], select[name]")
        if field.get("type") not in {"checkbox", "radio"} or field.has_attr("checked")
    ]


def _value(field: Tag) -> str:
    if field.name == "select":
        options = field.select("option[selected]") or field.select("option")
        return str(options[0].get("value", "")) if options else ""
    if field.name == "textarea":
        return field.get_text().removeprefix("\n")
    return str(field.get("value", "on" if field.get("type") == "checkbox" else ""))
