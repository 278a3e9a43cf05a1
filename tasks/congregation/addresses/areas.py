"""Which addresses a congregation wants: postal codes, communes, perimeter, sources."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy.orm import Session

from tasks import doorbell
from tasks.congregation.addresses.jobs import LANE
from tasks.congregation.addresses.perimeters import read_geojson
from tasks.congregation.addresses.starting import (
    SOURCES_MAX,
    lock_congregation,
    open_sync,
)
from tasks.errors import Conflict, InvalidInput
from tasks.models.address import AddressArea, Sync, SyncKind
from tasks.models.base import new_id
from tasks.models.long_job import LongJobState
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import mark, say

CODES_MAX: Final = 2_000
_POSTCODE: Final = re.compile(r"(?!00)[0-9]{5}")
_COMMUNE: Final = re.compile(r"(?!00)[0-9][0-9AB][0-9]{3}")
_NO_POSTCODE: Final = mark(
    "%(code)s is no postal code; each has five characters, such as 54111."
)
_NO_COMMUNE: Final = mark(
    "%(code)s is no INSEE code; each has five characters, such as 54111."
)


@dataclass(frozen=True, slots=True)
class AreaChange:
    """What an operator says: lists with blanks, commas or lines between the parts."""

    postcodes: str
    communes: str
    urls: str
    version: int  # of the area as it was shown


def get_area(session: Session, congregation_id: UUID) -> AddressArea:
    """Return a congregation's area; one that is not kept yet is empty."""
    found = session.get(AddressArea, congregation_id)
    return found or AddressArea(
        congregation_id=congregation_id,
        postcodes=[],
        communes=[],
        urls=[],
        perimeter=None,
        version=0,
    )


def save_area(
    session: Session,
    congregation_id: UUID,
    change: AreaChange,
    actor: Actor,
    *,
    now: datetime,
    check_url: Callable[[str], object],
) -> AddressArea:
    """Keep what is wanted, from the next sync on.  Caller commits.

    Raises:
        InvalidInput: something cannot be kept; nothing is.
        Conflict: somebody else has saved meanwhile.
    """
    area = _locked(session, congregation_id, change.version)
    before = _told(area)
    area.postcodes = _codes(change.postcodes, _POSTCODE, "postcodes", _NO_POSTCODE)
    area.communes = _codes(change.communes, _COMMUNE, "communes", _NO_COMMUNE)
    area.urls = _urls(change.urls, check_url)
    _keep(session, area, now)
    record(
        session,
        actor,
        "area.saved",
        Subject("area", str(congregation_id), congregation_id),
        "Changed which addresses are wanted",
        before=before,
        after=_told(area),
    )
    return area


def save_perimeter(
    session: Session,
    congregation_id: UUID,
    geojson: str,
    version: int,
    actor: Actor,
    *,
    now: datetime,
) -> Sync:
    """Keep a perimeter and let the lane look at every address.  Caller commits.

    Args:
        geojson: empty: everything is within.

    Raises:
        InvalidInput: it is no perimeter; the old one stays.
        Conflict: somebody else has saved meanwhile.
    """
    area = _locked(session, congregation_id, version)
    area.perimeter = read_geojson(geojson) if geojson.strip() else None
    _keep(session, area, now)
    words = "Changed the perimeter" if area.perimeter else "Removed the perimeter"
    subject = Subject("area", str(congregation_id), congregation_id)
    record(session, actor, "perimeter.saved", subject, words)
    return _look_anew(session, congregation_id, actor, now)


def _look_anew(
    session: Session, congregation_id: UUID, actor: Actor, now: datetime
) -> Sync:
    waiting = open_sync(session, congregation_id, SyncKind.PERIMETER)
    if waiting is not None and waiting.state is LongJobState.QUEUED:
        return waiting  # it reads the perimeter when it begins
    sync = Sync(
        id=new_id(now),
        congregation_id=congregation_id,
        kind=SyncKind.PERIMETER,
        sources=[],
        requested_by=actor.name,
        requested_at=now,
        run_at=now,
    )
    session.add(sync)
    session.flush()
    doorbell.ask(session, LANE)
    return sync


def _locked(session: Session, congregation_id: UUID, version: int) -> AddressArea:
    lock_congregation(session, congregation_id)
    session.expire_all()
    area = get_area(session, congregation_id)
    if area.version != version:
        raise Conflict(
            "stale", say("Somebody else has saved this meanwhile; look at it again.")
        )
    return area


def _keep(session: Session, area: AddressArea, now: datetime) -> None:
    area.version += 1
    area.changed_at = now
    session.add(area)
    session.flush()


def _told(area: AddressArea) -> dict[str, Any]:
    return {
        "postcodes": area.postcodes,
        "communes": area.communes,
        "urls": area.urls,
    }


def _codes(text: str, pattern: re.Pattern[str], field: str, wrong: str) -> list[str]:
    codes = dict.fromkeys(each for each in re.split(r"[\s,;]+", text.upper()) if each)
    for code in codes:
        if not pattern.fullmatch(code):
            raise InvalidInput("bad_code", say(wrong, code=code[:20]), field=field)
    if len(codes) > CODES_MAX:
        raise InvalidInput(
            "too_many",
            say("There may be %(max)s of them at most.", max=str(CODES_MAX)),
            field=field,
        )
    return sorted(codes)


def _urls(text: str, check: Callable[[str], object]) -> list[str]:
    urls = list(dict.fromkeys(text.split()))
    if len(urls) > SOURCES_MAX:
        raise InvalidInput(
            "too_many",
            say("There may be %(max)s of them at most.", max=str(SOURCES_MAX)),
            field="urls",
        )
    for url in urls:
        try:
            check(url)
        except InvalidInput as refused:
            told = say("%(url)s: %(problem)s", url=url[:80], problem=refused.message)
            raise InvalidInput(refused.code, told, field="urls") from refused
    return urls
