"""Feeds are read whatever their dialect, and hostile ones are refused."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from tasks.sources.feed_items import plain
from tasks.sources.feed_xml import ITEMS_MAX, NotAFeed, read_feed
from tests.support.feeds import Entry, rss

NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">
<title>Turm</title><entry><id>tag:turm,2026:1</id><title type="html">Bells &amp;amp; co
</title><published>2026-03-10T13:00:00+01:00</published><summary>Short</summary>
<link rel="alternate" href="https://turm.example/1"/></entry></feed>"""
RDF = """<?xml version="1.0"?><rdf:RDF xmlns="http://purl.org/rss/1.0/"
xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Alt</title></channel>
<item><title>One</title><link>https://alt.example/1</link>
<dc:date>2026-03-10T12:00:00Z</dc:date></item></rdf:RDF>"""


def test_an_rss_item_gives_what_an_episode_needs() -> None:
    content = read_feed(rss([Entry("g-1", "Morning bells", NOON, number="7")]))
    [item] = content.items
    assert content.title == "Kirchplatz"
    assert (item.guid, item.title, item.number) == ("g-1", "Morning bells", 7)
    assert item.description == "About & around bells."
    assert item.published_at == NOON


def test_the_podcasting_number_stands_in_for_the_one_of_itunes() -> None:
    feed = rss([Entry("g-1", "One")]).replace(b"itunes:episode", b"podcast:episode")
    assert read_feed(feed).items[0].number == 1


@pytest.mark.parametrize("number", ["", "12.5", "-1", "٣", "9" * 30])
def test_an_odd_number_is_left_out(number: str) -> None:
    assert read_feed(rss([Entry("g-1", "One", number=number)])).items[0].number is None


def test_atom_is_read_as_well() -> None:
    content = read_feed(ATOM.encode())
    [item] = content.items
    assert content.title == "Turm"
    assert (item.guid, item.title) == ("tag:turm,2026:1", "Bells & co")
    assert (item.description, item.published_at) == ("Short", NOON)


def test_rss_one_is_read_as_well() -> None:
    [item] = read_feed(RDF.encode()).items
    assert (item.guid, item.published_at) == ("https://alt.example/1", NOON)


def test_an_item_without_a_guid_is_known_by_its_file() -> None:
    feed = rss([Entry("", "One")])
    assert read_feed(feed).items[0].guid == "https://media.example/1.mp3"


def test_an_item_that_says_nothing_is_left_out() -> None:
    feed = b"<rss><channel><item/><item><title> </title></item></channel></rss>"
    assert read_feed(feed).items == ()


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "windows-1252"])
def test_other_encodings_are_understood(encoding: str) -> None:
    feed = rss([Entry("g", "Glöckchen")]).decode().replace("UTF-8", encoding)
    assert read_feed(feed.encode(encoding)).items[0].title == "Glöckchen"


BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not well-formed"),
        (b"<rss><channel><item></channel></rss>", "mismatched tag in line 1"),
        (b"<rss><channel>&nbsp;</channel></rss>", "undefined entity"),
        (b"<html><body>404</body></html>", "This is no feed: it begins with <html>"),
        (b"<rss/><rss/>", "not well-formed"),
        (b'<?xml version="1.0" encoding="klingon"?><rss/>', "unknown encoding"),
        (
            f'<!DOCTYPE rss [<!ENTITY e0 "ha">{BOMB}]><rss>&e9;</rss>'.encode(),
            "entities of its own",
        ),
        (
            b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss>&x;</rss>',
            "entities of its own",
        ),
        (
            b'<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1/x"> %x;]><rss/>',
            "entities of its own",
        ),
        (b"<rss>" + b"<a>" * 200 + b"</a>" * 200 + b"</rss>", "100 levels"),
    ],
)
def test_what_is_broken_or_hostile_is_refused_with_a_sentence(
    body: bytes, words: str
) -> None:
    with pytest.raises(NotAFeed, match=words):
        read_feed(body)


def test_more_items_than_we_take_are_left_out() -> None:
    item = "<item><guid>{}</guid></item>"
    many = "".join(item.format(n) for n in range(ITEMS_MAX + 5))
    feed = f"<rss><channel>{many}</channel></rss>".encode()
    assert len(read_feed(feed).items) == ITEMS_MAX


@pytest.mark.parametrize("piece", ["<", "<a ", "</", "<!--", "<script>", "&#", "<aa"])
def test_hostile_html_costs_little_time(piece: str) -> None:
    started = time.process_time()
    plain(piece * 100_000)
    plain("<" + piece.strip("<") * 100_000)
    assert time.process_time() - started < 5  # quadratic would be minutes


def test_html_becomes_the_text_that_people_would_read() -> None:
    html = "<p>One<br>two</p><style>x{}</style><ul><li>a &lt; b</li></ul>"
    assert plain(html) == "One\ntwo\na < b"
