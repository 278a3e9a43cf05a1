"""Archives of the public layout, 1.0 to 2.6: what we have of them, in our words.

Their names are fixed by the layout.  In 1.x one file of users holds members and
accounts; a user is a member when something says so that only members have.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final
from zoneinfo import ZoneInfo

from tasks.congregation.transfer.entity import Entity
from tasks.congregation.transfer.layouts import Lines, Raw
from tasks.congregation.transfer.public_board import Board
from tasks.congregation.transfer.public_names import FILES, NAMES
from tasks.congregation.transfer.public_values import converted, is_member, renamed
from tasks.congregation.transfer.reading import Archive, Heard
from tasks.congregation.transfer.refusing import ArchiveRefused, shown
from tasks.congregation.transfer.report import Report
from tasks.congregation.transfer.rows import OLD_MAX
from tasks.saying import mark
from tasks.saying.kept import kept

Object = Mapping[str, Any]
_USERS: Final = "users"
_FROM_USERS: Final = frozenset({"members", "group-members", "accounts"})
#: Accounts that are kept in mind, for the consents that they gave.
ACCOUNTS_MAX: Final = 500_000
_PLACEHOLDER: Final = "@placeholder.unitae.app"
#: What is left out, behind a number of rows.
_NOBODYS: Final = mark("consents are left out: nobody of ours gave them.")
_PLACEHOLDERS: Final = mark("accounts are left out: they only stood for a member.")
#: Files of the archive that say nothing that could come in.
_SILENT: Final = frozenset({"congregation"})


class PublicLayout:
    """An archive of the public layout."""

    def __init__(self, archive: Archive, heard: Heard, zone: ZoneInfo) -> None:
        self._archive = archive
        self._lines = Lines(archive, heard)
        self._zone = zone
        self._has_users = (
            f"data/{_USERS}.ndjson" in archive.names
            and "data/members.ndjson" not in archive.names
        )
        self._left: Counter[str] = Counter()
        #: Account -> its member, for consents, which are given by accounts there.
        self._member_of: dict[str, Any] = {}
        self._board = Board(archive, self._lines, zone, self._left)
        origin = self._origin() or archive.manifest.exported_at
        self.source = f"{archive.manifest.app}:{origin}"[:120]

    def rows(self, entity: Entity) -> Iterator[Raw]:
        """Yield the rows of an entity, in the order of the file."""
        if entity.name in self._board.entities:
            yield from self._board.rows(entity.name)
            return
        if entity.name not in FILES:
            return
        is_user = self._has_users and entity.name in _FROM_USERS
        file = _USERS if is_user else FILES[entity.name]
        for raw in self._lines.objects(file):
            if raw.values is None:
                yield raw
            elif (row := self._row(entity.name, raw.values, is_user)) is not None:
                yield raw._replace(values=row)

    def field(self, entity: Entity, column: str) -> str:
        """Return what the archive calls a column."""
        return NAMES.get(entity.name, {}).get(column, column)

    def entry(self, sha256: str) -> str:
        """Return the name of the entry that has a content."""
        return self._board.entry(sha256)

    def conclude(self, report: Report) -> None:
        """Tell of other numbers of rows, and of what there is no place for here."""
        self._lines.compare(report)
        for name, n in sorted(self._archive.manifest.counts.items()):
            if n and name not in self._lines.counts and name not in _SILENT:
                report.warn(
                    kept(
                        "%(n)s rows of “%(name)s” are left out: there is no place for "
                        "them here.",
                        n=str(n),
                        name=shown(name),
                    )
                )
        for why, n in sorted(self._left.items()):
            report.warn(kept("%(n)s %(why)s", n=str(n), why=kept(why)))
        if not self._archive.manifest.title.endswith("2.6"):
            report.warn(
                kept(
                    "The archive is of %(title)s; what newer ones have besides stays "
                    "empty.",
                    title=self._archive.manifest.title,
                )
            )
        report.warn(mark("Passwords and permissions are not taken over."))

    def _row(self, name: str, said: Object, is_user: bool) -> dict[str, Any] | None:
        """Return a row in our words; None: it is left out, and counted."""
        if name == "members":
            return self._member(said, is_user)
        if name == "group-members":
            return renamed(name, said) if said.get("publisherGroupId") else None
        if name == "accounts":
            return self._account(said, is_user)
        row = self._converted(name, said)
        if name == "consents":
            row["member_id"] = self._member_of.get(str(said.get("userId"))[:OLD_MAX])
            if row["member_id"] is None:
                self._left[_NOBODYS] += 1
                return None
        return row

    def _member(self, said: Object, is_user: bool) -> dict[str, Any] | None:
        if is_user and not is_member(said):
            return None
        return self._converted("members", said)

    def _account(self, said: Object, is_user: bool) -> dict[str, Any] | None:
        member = said.get("memberId")
        if is_user:
            member = said.get("id") if is_member(said) else None
        self._member_of[str(said.get("id"))[:OLD_MAX]] = member
        if len(self._member_of) > ACCOUNTS_MAX:
            raise ArchiveRefused(
                "archive_too_large",
                kept(
                    "The archive has more than %(max)s accounts.", max=str(ACCOUNTS_MAX)
                ),
            )
        if str(said.get("email", "")).endswith(_PLACEHOLDER):
            self._left[_PLACEHOLDERS] += 1
            return None
        row = self._converted("accounts", said) | {"member_id": member}
        names = (said.get("firstname"), said.get("lastname"))
        row["name"] = " ".join(str(each) for each in names if each)
        return row

    def _converted(self, name: str, said: Object) -> dict[str, Any]:
        row = renamed(name, said)
        return {
            column: converted(column, value, self._zone)
            for column, value in row.items()
        }

    def _origin(self) -> str:
        """Return what tells its congregation from others, as far as it says so."""
        for _, line in self._archive.lines("congregation"):
            try:
                said = json.loads(line)
            except (ValueError, RecursionError):
                break
            if isinstance(said, dict):
                known = (said.get(key) for key in ("slug", "domain", "name"))
                return str(next((each for each in known if each), ""))
        return ""
