"""Links that end mails: sealed, the same for ever, and nobody else's."""

from __future__ import annotations

from uuid import UUID

import pytest

from tasks.errors import NotFound
from tasks.outbound.mailboxes import BadAddress
from tasks.outbound.unsubscribing import PATH, UnsubscribeLinks

HOUSE = UUID(int=1)
LINKS = UnsubscribeLinks("https://carillon.example", "k" * 40)


def token(address: str = "zoe@example.org", house: UUID = HOUSE) -> str:
    url = LINKS.url(house, address)
    assert url.startswith(f"https://carillon.example{PATH}")
    return url.rpartition("/")[2]


def test_a_link_says_whom_it_is_about() -> None:
    assert LINKS.read(token()) == (HOUSE, "zoe@example.org")


def test_one_address_has_one_link_however_it_is_written() -> None:
    assert token("Zoe@EXAMPLE.org") == token()
    assert token("zoe@bücher.example") == token("zoe@xn--bcher-kva.example")
    assert token("zoe+a@example.org") != token()
    assert token(house=UUID(int=2)) != token()


def test_nobody_reads_the_address_in_it() -> None:
    assert "zoe" not in LINKS.url(HOUSE, "zoe@example.org")
    assert len(token("a" * 64 + "@" + "b" * 60 + ".org")) < 300


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "x",
        "é",
        "A" * 601,
        "A" * 100,
        token()[:-1],
        token()[1:],
        token().swapcase(),
        token() + "AAAA",
        "%00",
        "../../etc/passwd",
    ],
)
def test_a_changed_link_is_refused(bad: str) -> None:
    with pytest.raises(NotFound) as refused:
        LINKS.read(bad)
    assert refused.value.code == "bad_link"


def test_another_installations_link_is_refused() -> None:
    other = UnsubscribeLinks("https://carillon.example", "x" * 40)
    with pytest.raises(NotFound):
        other.read(token())


def test_what_is_no_address_has_no_link() -> None:
    with pytest.raises(BadAddress):
        LINKS.url(HOUSE, "nobody")
