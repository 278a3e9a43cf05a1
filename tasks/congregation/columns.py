"""The fate of every column that tells of people, table by table.

What a column is for decides: what says who somebody is goes, what only counts stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from tasks.congregation.fates import Derive, Erase, Fate, Keep, People
from tasks.congregation.names import folded

#: The congregation's language -> who somebody is from then on.
FORMER: Final[Mapping[str, str]] = {"en": "Former member", "fr": "Ancien membre"}
#: Says that a text was about somebody; people read it in the audit log.
FORGOTTEN: Final = "About somebody who has been anonymised since."


def suffix(row_id: UUID) -> str:
    """Return what tells people apart who have no name any more."""
    return f"#{row_id.hex[-10:]}"


def _former(_row_id: UUID, people: People) -> str:
    return FORMER.get(people.locale, FORMER["en"])


def _search_name(row_id: UUID, people: People) -> str:
    return folded(f"{suffix(row_id)} {_former(row_id, people)}")


def _nobody(_row_id: UUID, _people: People) -> str:
    return f"deleted-{uuid4().hex}@anonymised.invalid"


def _now(_row_id: UUID, people: People) -> datetime:
    return people.now


_ERASE: Final = Erase()
_ID: Final = Keep("Other rows refer to it, and it says nothing of the person.")
_LINK: Final = Keep("Points to what is anonymised itself.")
_STATE: Final = Keep("Says how far something is, not who somebody is.")
_TIME: Final = Keep("When a row was written says nothing of the person.")
_COUNTS: Final = Keep("Counts and statistics need it, and many people share it.")
_STAMP: Final = Derive(_now)

MEMBERS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "first_name": Derive(_former),
    "last_name": Derive(lambda row_id, _: suffix(row_id)),
    "search_name": Derive(_search_name),
    "gender": _ERASE,
    "birth_date": _ERASE,
    "baptism_date": _ERASE,
    "email": _ERASE,
    "phone": _ERASE,
    "address": _ERASE,
    "notes": _ERASE,
    "is_publisher": _COUNTS,
    "is_elder": _ERASE,
    "is_servant": _ERASE,
    "is_anointed": _ERASE,
    "joined_on": _ERASE,
    "inactive_on": _ERASE,
    "left_on": Keep("Says why the person was anonymised, and when it was due."),
    "hold_until": _ERASE,
    "hold_reason": _ERASE,
    "noticed_at": _TIME,
    "anonymised_at": _STAMP,
    "version": _STATE,
    "created_at": _TIME,
    "updated_at": _STAMP,
}
ACCOUNTS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "email": Derive(_nobody),
    "name": _ERASE,
    "member_id": _LINK,
    "locale": _ERASE,
    "timezone": _ERASE,
    "is_active": _ERASE,
    "anonymised_at": _STAMP,
    "created_at": _TIME,
}
GROUPS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "name": Keep("The group's own name."),
    "responsible_id": Keep("Nobody who is responsible for a group is anonymised."),
    "deputy_id": _ERASE,
    "version": _STATE,
    "created_at": _TIME,
}
CONSENTS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "member_id": _LINK,
    "kind": Keep("That there was a consent has to be shown for two years more."),
    "given_at": _TIME,
    "withdrawn_at": _TIME,
    "ip": _ERASE,
}
ATTRIBUTIONS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "territory_id": Keep("The history of a territory outlives who worked there."),
    "member_id": _LINK,
    "method": _COUNTS,
    "started_on": _COUNTS,
    "ended_on": _COUNTS,
    "due_on": _COUNTS,
    "notes": _ERASE,
    "campaign_id": _COUNTS,
    "paused_on": _STATE,
    "paused_by_id": _STATE,
    "version": _STATE,
    "created_at": _TIME,
}
NOTIFICATIONS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "type": _STATE,
    "category": _STATE,
    "state": _STATE,
    "account_id": _LINK,
    "duty": _STATE,
    "actor_id": _LINK,
    "entity_type": _STATE,
    "entity_id": _LINK,
    "payload": Keep("Names no people; they are read when it leaves."),
    "key": Keep("Made of ids."),
    "n_merged": _COUNTS,
    "first_at": _TIME,
    "settles_at": _TIME,
    "latest_at": _TIME,
    "digest_id": _LINK,
    "reason": _STATE,
    "ended_at": _TIME,
}
MAILS: Final[Mapping[str, Fate]] = {
    "congregation_id": _ID,
    "id": _ID,
    "digest_id": _LINK,
    "account_id": _LINK,
    "state": _STATE,
    "run_at": _TIME,
    "asked_at": _TIME,
    "attempt": _STATE,
    "failures": _STATE,
    "crashes": _STATE,
    "worker": _STATE,
    "lease_until": _TIME,
    "reason": _STATE,
    "error": _ERASE,  # mail servers repeat the address they refuse
    "settled_at": _TIME,
    "created_at": _TIME,
}
AUDIT: Final[Mapping[str, Fate]] = {
    "id": _ID,
    "congregation_id": _ID,
    "actor": Keep("Operators answer for what they did."),
    "action": _STATE,
    "subject_kind": _STATE,
    "subject_id": _LINK,
    "summary": Derive(lambda _row_id, _: FORGOTTEN),
    "before": _ERASE,
    "after": _ERASE,
    "ip": Keep("The operator's."),
    "created_at": _TIME,
}
