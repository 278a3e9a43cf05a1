"""Ids of an archive become ids of ours; none may point to nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final
from uuid import UUID, uuid5

from sqlalchemy.orm import Session

from tasks.congregation.transfer.entities import PLACE
from tasks.congregation.transfer.entity import Entity
from tasks.congregation.transfer.finding import Target, refs_of
from tasks.congregation.transfer.layouts import Layout
from tasks.congregation.transfer.report import Report
from tasks.congregation.transfer.rows import Incoming
from tasks.congregation.transfer.staging import Known, Staging
from tasks.congregation.transfer.wire import Wire
from tasks.saying.kept import kept

#: Makes ids of what is not here, the same ones every time.
_NOBODY: Final = UUID("6a2c1b1e-6f0e-4a0e-9d0b-8f4f1a6f3c55")


@dataclass(frozen=True, slots=True)
class Intake:
    """An archive's rows on their way into staging."""

    target: Target
    layout: Layout
    staging: Staging
    report: Report
    words: set[str] = field(default_factory=set)  # see ``forgetting``
    days: list[tuple[date, date, int]] = field(default_factory=list)  # see ``spans``
    _wires: dict[str, Wire] = field(default_factory=dict)

    @property
    def is_own(self) -> bool:
        """Whether the archive is one of this very congregation."""
        return self.layout.source == str(self.target.congregation_id)

    def wire(self, entity: Entity) -> Wire:
        """Return how new rows of an entity go to the database."""
        if entity.name not in self._wires:
            of, dialect = self.target.congregation_id, self.target.dialect
            wire = Wire(entity.table, entity.columns, of, dialect)
            self._wires[entity.name] = wire
        return self._wires[entity.name]


def point(
    intake: Intake, session: Session, entity: Entity, incoming: Sequence[Incoming]
) -> None:
    """Put our ids in place of the archive's, or say what is wrong with them."""
    for column, other in entity.references.items():
        olds = {each.olds[column] for each in incoming if column in each.olds}
        known = intake.staging.known(PLACE[other], list(olds))
        for each in incoming:
            if column in each.olds:
                _point(each, column, other, known)
    if entity.means:
        _point_by_kind(intake, session, entity.means, incoming)


def _point(each: Incoming, column: str, other: str, known: Mapping[str, Known]) -> None:
    found = known.get(each.olds[column])
    if found is None:
        sentence = kept(
            "points to a row of “%(name)s” that the archive does not have", name=other
        )
        each.faults.append((column, sentence))
        return
    each.values[column] = found.row_id
    if found.is_frozen:
        each.frozen.add(column)


def _point_by_kind(
    intake: Intake,
    session: Session,
    means: tuple[str, str, Mapping[str, str]],
    incoming: Sequence[Incoming],
) -> None:
    """Find whom the deletion ledger means: in the archive, or by a former one."""
    column, kind, by_kind = means
    for word, other in by_kind.items():
        mine = [
            each
            for each in incoming
            if column in each.olds and each.values.get(kind) == word
        ]
        olds = list({each.olds[column] for each in mine})
        known = intake.staging.known(PLACE[other], olds)
        refs = refs_of(session, intake.target, intake.layout.source, other, olds)
        for each in mine:
            old = each.olds[column]
            ref = f"{intake.layout.source}/{other}/{old}"
            found = known[old].row_id if old in known else refs.get(old)
            # Who is not here yet may come with another archive; then it is their turn.
            each.values[column] = found or uuid_of(old) or uuid5(_NOBODY, ref)
            if not intake.is_own:
                each.values["external_ref"] = ref


def uuid_of(text: str) -> UUID | None:
    """Return the id that a text is, if it is one."""
    try:
        return UUID(text)
    except ValueError:
        return None
