"""What an old archive still knows of people who were anonymised here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy.orm import Session

from tasks.congregation.retention.blacking import black_out
from tasks.congregation.retention.knowing import WORD_MIN
from tasks.congregation.transfer.entity import Entity, Row
from tasks.congregation.transfer.pointing import Intake

#: Names and numbers that are looked for in the texts of others, at most.
WORDS_MAX: Final = 2_000


def remember_words(intake: Intake, entity: Entity, row: Row) -> None:
    """Keep in mind what somebody who stays anonymised is called in the archive."""
    for word in _words(entity.name, row):
        if len(word) >= WORD_MIN and len(intake.words) < WORDS_MAX:
            intake.words.add(word)


def black_words_out(session: Session, intake: Intake) -> int:
    """Take those words out of texts that the archive brought; returns how many.

    Such as the notes of a territory, which name whom one met there.
    """
    words = sorted(intake.words, key=len, reverse=True)
    return black_out(session, intake.target.congregation_id, words) if words else 0


def _words(entity: str, row: Row) -> Iterator[str]:
    said = {name: value for name, value in row.items() if isinstance(value, str)}
    if entity == "members":
        first, last = said.get("first_name", ""), said.get("last_name", "")
        yield from (f"{first} {last}", f"{last} {first}", f"{last}, {first}")
    if entity in {"members", "accounts", "emergency-contacts"}:
        for name in ("name", "email", "phone", "address"):
            yield said.get(name, "")
