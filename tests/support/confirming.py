"""Confirming what a page asks about, as a press of its button does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bs4 import BeautifulSoup, Tag
from flask.testing import FlaskClient


def confirm(
    browser: FlaskClient, path: str, ticked: Mapping[str, Any] | None = None
) -> str:
    """Ask, confirm with what the question carries, and return what the page then says.

    Args:
        browser: who asks.
        path: of the question, and of the confirmation.
        ticked: what a list sends along; None: the question is a link.
    """
    asked = browser.get(path) if ticked is None else browser.post(path, data=ticked)
    assert asked.status_code == 200, asked.text
    form = BeautifulSoup(asked.text, "html.parser").select_one("form.question")
    assert isinstance(form, Tag), asked.text
    data: dict[str, list[str]] = {}
    for field in form.select("input[name]"):
        data.setdefault(str(field["name"]), []).append(str(field.get("value", "")))
    answer = browser.post(path, data=data, follow_redirects=True)
    assert answer.status_code == 200, answer.text
    words = BeautifulSoup(answer.text, "html.parser").get_text(" ")
    return " ".join(words.split())
