"""What an operator says about a document, checked."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from typing import Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks.congregation import texts
from tasks.congregation.names import folded
from tasks.errors import InvalidInput
from tasks.models.document import BoardSection, Document
from tasks.saying import say

TITLE_MAX: Final = 200
NAME_MAX: Final = 120
POSITION_MAX: Final = 9_999
_FILENAME_MAX: Final = 200
_SUFFIX: Final = ".pdf"


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """The fields of a document; days are the congregation's local days."""

    title: str
    section_id: UUID
    visible_from: date | None = None
    visible_until: date | None = None  # the last day
    is_highlighted: bool = False
    position: int = 0  # in its section, ascending


def fill(session: Session, row: Document, draft: DocumentDraft) -> None:
    """Give a document the draft's values.

    Raises:
        InvalidInput: a field cannot be accepted; the sentence says why.
    """
    title = texts.line(
        draft.title, "title", TITLE_MAX, what=say("The title"), required=True
    )
    # Whoever removes it waits, and is then told of the document.
    section = session.get(
        BoardSection,
        draft.section_id,
        populate_existing=True,
        with_for_update={"read": True, "key_share": True},
    )
    if section is None or section.congregation_id != row.congregation_id:
        raise InvalidInput(
            "unknown_section",
            say("Choose one of the board's sections."),
            field="section",
        )
    start = texts.day(draft.visible_from, "visible_from", what=say("The first day"))
    end = texts.day(draft.visible_until, "visible_until", what=say("The last day"))
    if start is not None and end is not None and end < start:
        raise InvalidInput(
            "ends_before_start",
            say("The last day is before the first one."),
            field="visible_until",
        )
    row.title, row.search_title = title, folded(title)[:TITLE_MAX]
    row.section_id = section.id
    row.visible_from, row.visible_until = start, end
    row.is_highlighted = draft.is_highlighted
    row.position = position(draft.position)


def position(value: int) -> int:
    """Return a place in an order.

    Raises:
        InvalidInput: it is negative or too large.
    """
    if not 0 <= value <= POSITION_MAX:
        raise InvalidInput(
            "bad_position",
            say(
                "The place is a whole number from 0 to %(max)s.", max=str(POSITION_MAX)
            ),
            field="position",
        )
    return value


def clean_filename(name: str) -> str:
    r"""Return a file's name as it may be shown and offered to browsers.

    >>> clean_filename("C:\\Users\\x\\Roster\u202efdp.exe")
    'Rosterfdp.exe.pdf'
    >>> clean_filename("../../" + "x" * 300 + ".PDF") == "x" * 196 + ".pdf"
    True
    >>> clean_filename("\n.pdf")
    'document.pdf'
    """
    last = PurePosixPath(name.replace("\\", "/")).name
    shown = "".join(
        c for c in last if unicodedata.category(c)[0] not in "CZ" or c == " "
    )
    stem = shown.strip(" .")
    if stem.lower().endswith(_SUFFIX) or stem.lower() == _SUFFIX[1:]:
        stem = stem[: -len(_SUFFIX)].rstrip(" .")
    return (stem[: _FILENAME_MAX - len(_SUFFIX)] or "document") + _SUFFIX
