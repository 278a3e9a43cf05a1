"""What the pages of exports and imports read, and in which words they tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from dashboard.filters import absolute
from dashboard.paging import Page, paginate
from dashboard.transfers.tables import TABLES
from tasks.congregation.transfer.starting import why_not
from tasks.congregation.transfer.steering import get_transfer
from tasks.models import Congregation, Transfer, TransferKind
from tasks.models.long_job import LongJobState
from tasks.saying import mark, meant, say
from tasks.saying.kept import told

_TITLES: Final = {
    TransferKind.EXPORT: meant("a transfer", "Export"),
    TransferKind.CHECK: mark("Archive to import"),
    TransferKind.IMPORT: mark("Import"),
}
_LEFT_OUT: Final = mark("Left out")
_OF_EXPORT: Final = ((mark("Rows"), "new"), (_LEFT_OUT, "left"))
_OF_IMPORT: Final = (
    (meant("rows", "New"), "new"),
    (meant("rows", "Changed"), "updated"),
    (mark("As here"), "same"),
    (_LEFT_OUT, "left"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """A transfer, and whose data it carries."""

    row: Transfer
    congregation: str

    @property
    def title(self) -> str:
        """What it is, in a word or three."""
        return say(_TITLES[self.row.kind])

    @property
    def is_export(self) -> bool:
        """Whether it is one."""
        return self.row.kind is TransferKind.EXPORT

    @property
    def is_live(self) -> bool:
        """Whether there is something to watch."""
        return self.row.is_open

    @property
    def look(self) -> tuple[str, str | None]:
        """Its state, and the word for it where that is another one."""
        is_done = self.row.state is LongJobState.DONE
        if self.row.is_expired:
            return "expired", None
        if self.row.kind is TransferKind.CHECK and is_done:
            has_problems = bool(self.report["n_problems"])
            if has_problems:
                return "failed", say("Has problems")
            return "done", say("Checked")
        return self.row.state.value, None

    @property
    def exported_at(self) -> str:
        """When an archive says that it was written."""
        at = str(self.report.get("about", {}).get("exported_at", ""))
        try:
            moment = datetime.fromisoformat(at)
        except ValueError:
            return at
        return absolute(moment) if moment.tzinfo else at

    @property
    def is_asked_to_end(self) -> bool:
        """Whether it was cancelled, and its worker has not looked yet."""
        return self.is_live and self.row.cancel_asked_at is not None

    @property
    def has_archive(self) -> bool:
        """Whether an archive is kept that nobody is at."""
        return not self.is_live and self.row.file_key is not None

    @property
    def report(self) -> dict[str, Any]:
        """What was found or done; empty before."""
        return self.row.report

    @property
    def why_not(self) -> str | None:
        """Why it cannot become an import; ``None``: it can, or it is no check."""
        is_done = self.row.state is LongJobState.DONE
        is_check = self.row.kind is TransferKind.CHECK
        return why_not(self.row) if is_check and is_done else None

    @property
    def can_be_imported(self) -> bool:
        """Whether an operator may confirm it."""
        is_done = self.row.state is LongJobState.DONE
        return self.row.kind is TransferKind.CHECK and is_done and self.why_not is None

    @property
    def columns(self) -> Sequence[tuple[str, str]]:
        """The columns of the report: a heading, and which count it is."""
        return _OF_EXPORT if self.is_export else _OF_IMPORT

    def counts(self) -> Sequence[tuple[str, dict[str, int]]]:
        """Return the counts of each table that has rows in the archive."""
        counts = self.report.get("counts", {})
        return [
            (self.table(name), each)
            for name, each in counts.items()
            if any(each.values())
        ]

    def table(self, name: str) -> str:
        """Return what people call a table of archives."""
        return say(TABLES.get(name, name.replace("-", " ").capitalize()))

    def problems(self) -> Sequence[dict[str, Any]]:
        """Return what is wrong with the archive, in the present language."""
        return [
            each | {"sentence": told(each["sentence"], each.get("said"))}
            for each in self.report["problems"]
        ]

    def warnings(self) -> Sequence[str]:
        """Return what an operator should know, in the present language."""
        found = self.report["warnings"]
        said = self.report.get("warnings_said") or [None] * len(found)
        return [told(*each) for each in zip(found, said, strict=True)]


def selected(wanted: Sequence[ColumnElement[bool]]) -> Select[Transfer, str]:
    """Select transfers with their congregation's name."""
    return (
        select(Transfer, Congregation.name)
        .join(Congregation, Congregation.id == Transfer.congregation_id)
        .where(*wanted)
    )


def page(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    cursor: str | None,
    limit: int,
) -> Page[Line]:
    """Return a page of transfers, newest first."""
    newest = (Transfer.id.desc(),)
    found = paginate(session, selected(wanted), newest, cursor, limit)
    rows = [Line(*row) for row in found.rows]
    return Page(rows, found.next_cursor, found.previous_cursor)


def detail(session: Session, transfer_id: UUID) -> Line:
    """Return one transfer.

    Raises:
        NotFound: the session sees none.
    """
    row = get_transfer(session, transfer_id)
    return Line(row, session.get_one(Congregation, row.congregation_id).name)


def import_of(session: Session, check: Transfer) -> UUID | None:
    """Return the newest import of an archive that was looked at."""
    return session.scalar(
        select(Transfer.id)
        .where(
            Transfer.congregation_id == check.congregation_id,
            Transfer.check_id == check.id,
        )
        .order_by(Transfer.id.desc())
        .limit(1)
    )
