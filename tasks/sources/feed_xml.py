"""Reading RSS and Atom, also hostile ones: no entities, no outside, all in bounds.

Understands the elements of RSS 2.0, RSS 1.0 and Atom, and of the iTunes and
Podcasting 2.0 namespaces, as far as episodes need them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final, NoReturn
from xml.parsers import expat

from tasks.saying import mark
from tasks.sources.feed_items import FeedContent, make_item
from tasks.sources.reading import text

ITEMS_MAX: Final = 5_000
DEPTH_MAX: Final = 100
_FIELD_MAX: Final = 40_000  # characters of one element; HTML may shrink to less
#: How namespaces are called below; what is not listed is not read.
_SPACES: Final[Mapping[str, str]] = {
    "": "",
    "http://purl.org/rss/1.0/": "",
    "http://www.w3.org/2005/atom": "",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes:",
    "https://podcastindex.org/namespace/1.0": "podcast:",
    "https://github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": (
        "podcast:"
    ),
    "http://purl.org/rss/1.0/modules/content/": "content:",
    "http://purl.org/dc/elements/1.1/": "dc:",
}
_ROOTS: Final = frozenset({"rss", "feed"})
_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns# RDF"
_PARENTS: Final = frozenset({"channel", "feed"})
_ITEMS: Final = frozenset({"item", "entry"})


class NotAFeed(Exception):
    """It cannot be read as a feed; the text is a sentence."""


def read_feed(body: bytes) -> FeedContent:
    """Return what a feed holds, at most ``ITEMS_MAX`` items.

    Raises:
        NotAFeed: not well-formed, no feed, or with entities of its own.
    """
    reader = _Reader()
    try:
        reader.parser.Parse(body, True)
    except expat.ExpatError as error:
        raise NotAFeed(
            f"The feed is not well-formed XML: {expat.ErrorString(error.code)} in line "
            f"{error.lineno}."
        ) from error
    except (ValueError, LookupError) as error:  # an encoding that nobody knows
        raise NotAFeed(mark("The feed is written in an unknown encoding.")) from error
    return FeedContent(
        text(reader.title, 200), tuple(filter(None, map(make_item, reader.items)))
    )


class _Reader:
    """Collects the texts of each item, by the names of their elements."""

    def __init__(self) -> None:
        self.items: list[dict[str, str]] = []
        self.title = ""
        self._path: list[str] = []
        self._item: defaultdict[str, str] | None = None
        self._item_depth = 0
        self._field: str | None = None
        self._field_depth = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = _no_entities
        self.parser.ExternalEntityRefHandler = _no_entities

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = _local(name)
        if not self._path and local not in _ROOTS and name != _RDF:
            raise NotAFeed(
                f"This is no feed: it begins with <{name.rpartition(' ')[2][:40]}>."
            )
        self._path.append(local)
        if len(self._path) > DEPTH_MAX:
            raise NotAFeed(f"The feed has more than {DEPTH_MAX} levels.")
        if self._field is not None:
            return
        if self._item is None:
            if local in _ITEMS:
                self._item, self._item_depth = defaultdict(str), len(self._path)
            elif local == "title" and self._path[-2:-1] and self._path[-2] in _PARENTS:
                self._field, self._field_depth = "feed title", len(self._path)
            return
        if len(self._path) == self._item_depth + 1 and local:
            self._begin_field(local, attributes)

    def _begin_field(self, local: str, attributes: dict[str, str]) -> None:
        assert self._item is not None  # noqa: S101  # narrows the type
        if local == "enclosure":
            self._item["enclosure"] = attributes.get("url", "")[:_FIELD_MAX]
        if local == "link" and attributes.get("rel", "alternate") == "alternate":
            self._item["link"] = attributes.get("href", "")[:_FIELD_MAX]
        if not self._item[local]:  # of two the first counts
            self._field, self._field_depth = local, len(self._path)

    def _characters(self, data: str) -> None:
        if self._field is None:
            return
        if self._item is None:
            self.title = (self.title + data)[:_FIELD_MAX]
        elif len(self._item[self._field]) < _FIELD_MAX:
            self._item[self._field] += data[:_FIELD_MAX]

    def _end(self, _name: str) -> None:
        if self._field is not None and len(self._path) == self._field_depth:
            self._field = None
        if self._item is not None and len(self._path) == self._item_depth:
            if len(self.items) < ITEMS_MAX:
                self.items.append(dict(self._item))
            self._item = None
        self._path.pop()


def _local(name: str) -> str:
    """Return an element's name with our word for its namespace; empty: not ours."""
    space, _, local = name.rpartition(" ")
    known = _SPACES.get(space.lower())
    return "" if known is None else known + local


def _no_entities(*_: object) -> NoReturn:
    raise NotAFeed(mark("The feed declares entities of its own, which is refused."))
