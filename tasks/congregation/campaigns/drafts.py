"""What an operator says about a campaign, and what may stand there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.bulk import among
from tasks.congregation.texts import line, notes, one_of, some_day
from tasks.errors import InvalidInput
from tasks.models import EndAction, StartAction, Territory
from tasks.saying import say

NAME_MAX: Final = 120
#: The longest window, in days.
DAYS_MAX: Final = 366
REST_DAYS_MAX: Final = 366
SCOPE_MAX: Final = 5_000


@dataclass(frozen=True, slots=True)
class CampaignDraft:
    """What an operator may say about a campaign."""

    name: str
    starts_on: date | None
    ends_on: date | None  # the last day, inclusive
    notes: str = ""
    rest_days: int | None = None  # None: the usual time
    start_action: str = StartAction.PAUSE
    reassigns: bool = False
    closes_work: bool = True
    end_action: str = EndAction.RESUME
    territory_ids: frozenset[UUID] = frozenset()  # none: every territory


@dataclass(frozen=True, slots=True)
class Checked:
    """A draft that can be kept."""

    name: str
    starts_on: date
    ends_on: date
    notes: str
    rest_days: int | None
    start_action: StartAction
    reassigns: bool
    closes_work: bool
    end_action: EndAction
    territory_ids: frozenset[UUID]


def checked(session: Session, congregation_id: UUID, draft: CampaignDraft) -> Checked:
    """Return the draft as it can be kept.

    Raises:
        InvalidInput: a field cannot be accepted; ``field`` names it.
    """
    starts_on = some_day(draft.starts_on, "starts_on", what=say("The first day"))
    ends_on = some_day(draft.ends_on, "ends_on", what=say("The last day"))
    _check_window(starts_on, ends_on)
    start_action = one_of(draft.start_action, StartAction, "start_action")
    if draft.reassigns and start_action is not StartAction.PAUSE:
        raise InvalidInput(
            "reassign_needs_pause",
            say(
                "Territories can be given out again for the campaign only when the "
                "regular work on them is paused."
            ),
            field="reassigns",
        )
    _check_territories(session, congregation_id, draft.territory_ids)
    return Checked(
        name=line(draft.name, "name", NAME_MAX, what=say("A name"), required=True),
        starts_on=starts_on,
        ends_on=ends_on,
        notes=notes(draft.notes),
        rest_days=_rest_days(draft.rest_days),
        start_action=start_action,
        reassigns=draft.reassigns,
        closes_work=draft.closes_work,
        end_action=one_of(draft.end_action, EndAction, "end_action"),
        territory_ids=draft.territory_ids,
    )


def _check_window(starts_on: date, ends_on: date) -> None:
    if ends_on < starts_on:
        raise InvalidInput(
            "ends_before_start",
            say("The last day must not be before the first one."),
            field="ends_on",
        )
    if (ends_on - starts_on).days >= DAYS_MAX:
        raise InvalidInput(
            "too_long",
            say("A campaign has at most %(max)s days; make two of it.", max=DAYS_MAX),
            field="ends_on",
        )


def _rest_days(days: int | None) -> int | None:
    if days is not None and not 0 <= days <= REST_DAYS_MAX:
        raise InvalidInput(
            "rest_out_of_range",
            say("A territory rests 0 to %(max)s days.", max=REST_DAYS_MAX),
            field="rest_days",
        )
    return days


def _check_territories(
    session: Session, congregation_id: UUID, ids: frozenset[UUID]
) -> None:
    if len(ids) > SCOPE_MAX:
        raise InvalidInput(
            "scope_too_large",
            say(
                "Choose at most %(max)s territories, or none for all of them.",
                max=str(SCOPE_MAX),
            ),
            field="territory_ids",
        )
    if not ids:
        return
    known = session.scalars(
        select(Territory.id).where(
            Territory.congregation_id == congregation_id,
            among(session, Territory.id, sorted(ids)),
        )
    ).all()
    if len(known) < len(ids):
        raise InvalidInput(
            "unknown_territory",
            say("One of the territories is gone; choose again."),
            field="territory_ids",
        )
