from __future__ import annotations

import pytest

from tasks.outbound.mailboxes import BadAddress, normal_address, read_address
from tasks.saying import language


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not an e-mail address"),
        ("@", "not an e-mail address"),
        ("guest", "not an e-mail address"),
        ("a@b..c", "not an e-mail address"),
        ("a@b@c.org", "not an e-mail address"),
        ("a b@c.org", "not an e-mail address"),
        (" a@b.org", "spaces around"),
        ("a@b.org, evil@x.org", "one e-mail address"),
        ("a@b.org;evil@x.org", "one e-mail address"),
        ('"a" <a@b.org>, <evil@x.org>', "one e-mail address"),
        ("Anna <a@b.org>", "one e-mail address"),
        ("undisclosed:;", "one e-mail address"),
        ("a@b.org\r\nBcc: e@x.org", "control characters"),
        ("a@b.org\x00", "control characters"),
        ("-oQ/tmp@x.org", "hyphen"),
        ("a@[127.0.0.1]", "not an e-mail address"),
        ('"quoted local"@x.org', "not an e-mail address"),
        ("x" * 65 + "@example.org", "not an e-mail address"),
        ("a@" + "x" * 251 + ".org", "at most 254"),
        ("zo\u200bë@example.org", "control characters"),
        ("ö" * 65 + "@example.org", "not an e-mail address"),
        ("ö" * 64 + "@" + "ü." * 24 + "example", "not an e-mail address"),
        ("a@localhost", "not an e-mail address"),
    ],
)
def test_what_is_not_one_plain_address_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadAddress, match=why):
        read_address(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("guest@example.org", "guest@example.org"),
        ("First.Last+tag@Example.ORG", "First.Last+tag@example.org"),
        ("o'brien@example.org", "o'brien@example.org"),
        ("zoe@bücher.example", "zoe@xn--bcher-kva.example"),
        ("zoe@xn--bcher-kva.example", "zoe@xn--bcher-kva.example"),
        ("zoe@straße.example", "zoe@xn--strae-oqa.example"),
        ("jörg@Bücher.example", "jörg@xn--bcher-kva.example"),
        ("jo\u0308rg@example.org", "jörg@example.org"),
        ("用户@例え.example", "用户@xn--r8jz45g.example"),
        ("someone@mail.test", "someone@mail.test"),
    ],
)
def test_a_plain_address_is_taken(text: str, address: str) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "JÖRG@Bücher.example",
        "jörg@xn--bcher-kva.example",
        " Jo\u0308rg@BÜCHER.example ",
    ],
)
def test_addresses_are_compared_in_one_spelling(text: str) -> None:
    assert normal_address(text) == "jörg@xn--bcher-kva.example"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("guest", "il lui faut un signe @."),
        ("a..b@example.org", "elle ne peut pas avoir deux points de suite."),
        ("a b@example.org", "non valables\u00a0: SPACE."),
        ("x" * 65 + "@example.org", "avant le signe @ (1 caractère de trop)."),
        ("ö" * 64 + "@" + "ü." * 24 + "example", "elle est trop longue."),
    ],
)
def test_what_the_library_says_is_said_in_the_present_language(
    text: str, why: str
) -> None:
    token = language.set("fr")
    try:
        with pytest.raises(BadAddress) as refused:
            read_address(text)
    finally:
        language.reset(token)

    assert str(refused.value).endswith(why)
