"""The built-in look of mails, and the text that goes beside it."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.outbound.layout import fragment_of, html_of, text_of

LINK = "https://carillon.example/unsubscribe/abc"
MESSAGE: dict[str, Any] = {
    "to": "guest@example.org",
    "subject": "Hi <you>",
    "text": "Dear Zoë,\n\nsee you at https://example.org/r?a=1&b=2.\nInes",
    "html": "",
    "look": {"sender": "St. <Same> & Co"},
    "optional": True,
}


def test_a_mail_without_a_look_is_left_as_it_is() -> None:
    plain = {"subject": "x", "text": "y", "html": "<p>own</p>"}
    assert html_of(plain) == "<p>own</p>"
    assert html_of({**plain, "html": ""}) == ""
    assert text_of(plain) == "y"


def test_text_becomes_paragraphs_with_links_in_the_frame() -> None:
    html = html_of(MESSAGE, LINK)

    assert "<p>Dear Zoë,</p>" in html
    assert (
        '<a href="https://example.org/r?a=1&amp;b=2">https://example.org/r?a=1&amp;b=2'
        "</a>.<br>" in html
    )
    assert "St. &lt;Same&gt; &amp; Co" in html
    assert "<title>Hi &lt;you&gt;</title>" in html
    assert f'<a href="{LINK}"' in html
    assert ">Unsubscribe</a>" in html
    assert "$" not in html


def test_every_client_can_show_the_frame() -> None:
    html = html_of(MESSAGE, LINK)

    assert "flex" not in html
    assert "grid" not in html
    assert "max-width:600px" in html
    assert '<table role="presentation" width="600"' in html  # for Outlook
    assert "prefers-color-scheme: dark" in html
    assert "http-equiv" not in html
    assert "<img" not in html
    assert len(html.encode()) < 12_000  # Gmail cuts off after 102 kB


def test_what_programs_show_behind_the_subject_is_the_text() -> None:
    html = html_of({**MESSAGE, "text": "", "html": "<p>First <b>words</b></p>"})
    hidden = html[html.index("display:none") :][:400]
    assert "First words" in hidden


@pytest.mark.parametrize(
    ("locale", "word"), [("en", "Unsubscribe"), ("fr", "Se désabonner"), ("xx", "Uns")]
)
def test_the_frame_speaks_the_congregations_language(locale: str, word: str) -> None:
    message = {**MESSAGE, "locale": locale}
    assert word in html_of(message, LINK)
    assert word in text_of(message, LINK)


def test_without_a_link_there_is_none() -> None:
    assert "nsubscribe" not in html_of(MESSAGE)
    assert text_of(MESSAGE) == MESSAGE["text"]


def test_the_text_part_ends_with_the_link() -> None:
    assert text_of({"text": "Bye\n\n"}, LINK) == f"Bye\n\n-- \nUnsubscribe: {LINK}\n"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("a\n\n\n  \n b", "<p>a</p>\n<p>b</p>"),
        ("<b>&", "<p>&lt;b&gt;&amp;</p>"),
        ("javascript:alert(1)", "<p>javascript:alert(1)</p>"),
        ('https://x.org/"onclick="y', '<p><a href="https://x.org/">https://x.org/</a>'),
        ("(https://x.org/a)", '<p>(<a href="https://x.org/a">https://x.org/a</a>)</p>'),
    ],
)
def test_no_text_breaks_out_of_its_paragraph(text: str, html: str) -> None:
    made = fragment_of(text)
    assert made.startswith(html)
    assert "onclick=" not in made.replace("&quot;onclick=&quot;y", "")
