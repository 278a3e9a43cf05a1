"""The access token in a mail: where it takes its place, and how it is written."""

from __future__ import annotations

import pytest

from tasks.automation.guest_tokens import STAND_IN, is_in, put_in

ODD = 'a+b/c="<&>'


@pytest.mark.parametrize(
    ("part", "written", "leaves"),
    [
        ("text", "Code: {}.", f"Code: {ODD}."),
        ("html", "<b>{}</b>", "<b>a+b/c=&quot;&lt;&amp;&gt;</b>"),
        (
            "text",
            "See https://x.org/g?t={}&b=1 or {}",
            f"See https://x.org/g?t=a%2Bb%2Fc%3D%22%3C%26%3E&b=1 or {ODD}",
        ),
        (
            "html",
            '<a href="https://x.org/g/{}">https://x.org/g/{}</a>',
            '<a href="https://x.org/g/a%2Bb%2Fc%3D%22%3C%26%3E">'
            "https://x.org/g/a%2Bb%2Fc%3D%22%3C%26%3E</a>",
        ),
        (
            "html",
            '<a href="https://x.org">{}</a>',
            '<a href="https://x.org">a+b/c=&quot;&lt;&amp;&gt;</a>',
        ),
    ],
)
def test_it_is_written_as_its_place_wants_it(
    part: str, written: str, leaves: str
) -> None:
    message = {"to": "zoe@example.org", part: written.replace("{}", STAND_IN)}
    assert put_in(message, ODD)[part] == leaves


def test_filters_that_change_letters_do_not_hide_the_place() -> None:
    assert put_in({"text": STAND_IN.lower()}, "t-1") == {"text": "t-1"}


def test_without_a_token_a_mail_stays_as_it_was_composed() -> None:
    message = {"text": STAND_IN, "html": "", "subject": STAND_IN}
    assert put_in(message, None) == message


def test_a_subject_is_no_place_for_it() -> None:
    message = {"subject": STAND_IN, "text": "", "html": ""}
    assert not is_in(message)
    assert put_in(message, "t-1") == message
