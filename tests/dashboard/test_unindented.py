"""Pages go without their templates' indentation, and lose no space by it."""

from __future__ import annotations

import pytest
from jinja2 import DictLoader, Environment

from dashboard.web import Unindented


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("<ul>\n      <li>one</li>\n</ul>", "<ul>\n <li>one</li>\n</ul>"),
        # The line break after a tag goes: what keeps the words apart has to stay.
        ("{% if true %}two{% endif %}\n    words", "two words"),
        (
            "<pre>\n    as\n      it is</pre>\n    <p>",
            "<pre>\n    as\n      it is</pre>\n <p>",
        ),
        ("<textarea>\n  kept</textarea>", "<textarea>\n  kept</textarea>"),
    ],
)
def test_lines_begin_with_one_space_at_most_where_it_is_no_text(
    source: str, shown: str
) -> None:
    pages = Environment(
        loader=DictLoader({"page.html": source}),
        extensions=[Unindented],
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    assert pages.get_template("page.html").render() == shown


def test_what_is_no_page_stays_as_it_is() -> None:
    text = "Dear\n    friend"
    pages = Environment(
        loader=DictLoader({"mail.txt": text}), extensions=[Unindented], autoescape=True
    )
    assert pages.get_template("mail.txt").render() == text
