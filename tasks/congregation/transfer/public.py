"""Archives of the public layout, 1.0 to 2.6: what we have of them, in our words.

Their names are fixed by the layout.  In 1.x one file of users holds members and
accounts; a user is a member when something says so that only members have.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from tasks.congregation.transfer.entity import Entity
from tasks.congregation.transfer.layouts import Lines, Raw
from tasks.congregation.transfer.public_board import Board
from tasks.congregation.transfer.public_names import FILES, NAMES
from tasks.congregation.transfer.reading import Archive, Heard
from tasks.congregation.transfer.refusing import ArchiveRefused, shown
from tasks.congregation.transfer.report import Report
from tasks.congregation.transfer.rows import OLD_MAX

Object = Mapping[str, Any]
_USERS: Final = "users"
_FROM_USERS: Final = frozenset({"members", "group-members", "accounts"})
_DAYS: Final = frozenset(
    {
        "birth_date",
        "baptism_date",
        "inactive_on",
        "left_on",
        "started_on",
        "ended_on",
        "due_on",
    }
)
#: Texts that may be null there, and are empty here.
_TEXTS: Final = frozenset(
    {"phone", "address", "email", "notes", "relation", "ip", "name"}
)
_WORDS: Final = frozenset({"kind", "method"})
#: Words that mean ours, where they differ by more than case and hyphens.
_SYNONYMS: Final[Mapping[str, str]] = {"shop": "shops", "hotels": "hotel"}
_GENDERS: Final[Mapping[Any, Any]] = {True: "male", False: "female"}
#: Accounts that are kept in mind, for the consents that they gave.
ACCOUNTS_MAX: Final = 500_000
_PLACEHOLDER: Final = "@placeholder.unitae.app"
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
        self._board = Board(archive, self._lines, self._day, self._left)
        self.source = f"{archive.manifest.app}:{self._origin()}"[:120]

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
                    f"{n} rows of “{shown(name)}” are left out: there is no place for "
                    "them here."
                )
        for why, n in sorted(self._left.items()):
            report.warn(f"{n} {why}")
        if not self._archive.manifest.title.endswith("2.6"):
            report.warn(
                f"The archive is of {self._archive.manifest.title}; what newer ones "
                "have besides stays empty."
            )
        report.warn("Passwords and permissions are not taken over.")

    def _row(self, name: str, said: Object, is_user: bool) -> dict[str, Any] | None:
        """Return a row in our words; None: it is left out, and counted."""
        if name == "members":
            return self._member(said, is_user)
        if name == "group-members":
            return _renamed(name, said) if said.get("publisherGroupId") else None
        if name == "accounts":
            return self._account(said, is_user)
        row = self._converted(name, said)
        if name == "consents":
            row["member_id"] = self._member_of.get(str(said.get("userId"))[:OLD_MAX])
            if row["member_id"] is None:
                self._left["consents are left out: nobody of ours gave them."] += 1
                return None
        return row

    def _member(self, said: Object, is_user: bool) -> dict[str, Any] | None:
        if is_user and not _is_member(said):
            return None
        row = self._converted("members", said)
        is_male = said.get("isMale")
        if "gender" in row:
            row["gender"] = _GENDERS.get(is_male, is_male)
        return row

    def _account(self, said: Object, is_user: bool) -> dict[str, Any] | None:
        member = said.get("memberId")
        if is_user:
            member = said.get("id") if _is_member(said) else None
        self._member_of[str(said.get("id"))[:OLD_MAX]] = member
        if len(self._member_of) > ACCOUNTS_MAX:
            raise ArchiveRefused(
                "archive_too_large",
                f"The archive has more than {ACCOUNTS_MAX} accounts.",
            )
        if str(said.get("email", "")).endswith(_PLACEHOLDER):
            self._left["accounts are left out: they only stood for a member."] += 1
            return None
        row = self._converted("accounts", said) | {"member_id": member}
        names = (said.get("firstname"), said.get("lastname"))
        row["name"] = " ".join(str(each) for each in names if each)
        return row

    def _converted(self, name: str, said: Object) -> dict[str, Any]:
        row = _renamed(name, said)
        for column, value in row.items():
            convert = self._conversion(column)
            row[column] = convert(value) if convert else value
        return row

    def _conversion(self, column: str) -> Callable[[Any], Any] | None:
        if column in _DAYS:
            return self._day
        if column in _TEXTS:
            return lambda value: "" if value is None else value
        if column in _WORDS:
            return _word
        if column == "position":
            return lambda value: value or 0
        return None

    def _day(self, value: object) -> object:
        """Return the local day of an instant; what is no instant stays as it is."""
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            return value
        if moment.tzinfo is None:
            return value
        moment = moment.astimezone(UTC)
        is_day = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
        return (moment if is_day else moment.astimezone(self._zone)).date().isoformat()

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


def _renamed(name: str, said: Object) -> dict[str, Any]:
    return {
        column: said[theirs] for column, theirs in NAMES[name].items() if theirs in said
    }


def _word(value: object) -> object:
    if not isinstance(value, str):
        return value
    word = value.strip().lower().replace("-", "_")
    return _SYNONYMS.get(word, word)


def _is_member(said: Object) -> bool:
    """Whether a user of 1.x is a member: something says so that only members have."""
    signs = ("isPublisher", "isHelder", "isServant", "isAnointed")
    return any(said.get(sign) is True for sign in signs) or any(
        said.get(name) is not None for name in ("baptismDate", "publisherGroupId")
    )
