"""What operators may do to a lane: pause it, resize it, ask for a sweep now."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from tasks import doorbell, registry
from tasks.errors import Conflict, InvalidInput, NotFound, UnknownLane
from tasks.lane import WORKERS_MAX, Lane
from tasks.models import LaneRun, LaneSetting, LaneTrigger, new_id
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say


def pause_lane(session: Session, name: str, actor: Actor, *, now: datetime) -> bool:
    """Let the lane claim nothing new until it is resumed; what it holds is finished.

    Returns:
        False when it was paused already: who paused it first stays on record.

    Raises:
        NotFound: there is no such lane.
    """
    lane = _known(name)
    setting = _locked_setting(session, lane)
    if setting.is_paused:
        return False
    before = _facts(setting)
    setting.is_paused, setting.paused_by, setting.paused_at = True, actor.name, now
    session.flush()
    _audit(session, setting, actor, "paused", f"Paused the lane {lane.title}.", before)
    return True


def resume_lane(session: Session, name: str, actor: Actor, *, now: datetime) -> bool:
    """Let the lane work again and ring it; False when it was not paused.

    Raises:
        NotFound: there is no such lane.
    """
    lane = _known(name)
    setting = _locked_setting(session, lane)
    if not setting.is_paused:
        return False
    before = _facts(setting)
    setting.is_paused, setting.paused_by, setting.paused_at = False, None, None
    setting.updated_at = now
    session.flush()
    _audit(
        session, setting, actor, "resumed", f"Resumed the lane {lane.title}.", before
    )
    doorbell.ask(session, lane.name)
    return True


def set_workers(
    session: Session, name: str, workers: int | None, actor: Actor, *, now: datetime
) -> bool:
    """Say how many sweeps of the lane one worker process runs at once.

    Args:
        workers: 1 to ``WORKERS_MAX``; None goes back to the registry's number.

    Returns:
        False when that number was set already.

    Raises:
        InvalidInput: the number is out of bounds.
        NotFound: there is no such lane.
    """
    lane = _known(name)
    if workers is not None and not 1 <= workers <= WORKERS_MAX:
        raise InvalidInput(
            "workers_out_of_bounds",
            say(
                "A lane may have 1 to %(max)s workers, not %(n)s.",
                max=WORKERS_MAX,
                n=str(workers),
            ),
            field="workers",
        )
    setting = _locked_setting(session, lane)
    if setting.workers == workers:
        return False
    before = _facts(setting)
    setting.workers, setting.updated_at = workers, now
    session.flush()
    number = f"{lane.workers} (the default)" if workers is None else str(workers)
    summary = f"Set the workers of the lane {lane.title} to {number}."
    _audit(session, setting, actor, "resized", summary, before)
    return True


def sweep_now(session: Session, name: str, actor: Actor, *, now: datetime) -> LaneRun:
    """Ask for one sweep of the lane; the worker takes it up when the bell rings.

    Raises:
        Conflict: the lane is paused, or an earlier request still waits.
        NotFound: there is no such lane.
    """
    lane = _known(name)
    # Its lock also keeps two requests from both finding that nobody asked yet.
    setting = _locked_setting(session, lane)
    if setting.is_paused:
        raise Conflict(
            "lane_paused",
            say(
                "The lane %(lane)s is paused. Resume it, then ask for a sweep.",
                lane=say(lane.title),
            ),
        )
    if _is_asked(session, lane):
        raise Conflict(
            "sweep_waiting",
            say(
                "A sweep of the lane %(lane)s was asked for and waits for a worker.",
                lane=say(lane.title),
            ),
        )
    run = LaneRun(
        id=new_id(),
        lane=lane.name,
        trigger=LaneTrigger.OPERATOR,
        requested_by=actor.name,
        requested_at=now,
    )
    session.add(run)
    session.flush()
    summary = f"Asked for a sweep of the lane {lane.title}."
    record(session, actor, "lane.swept", Subject("lane", lane.name), summary)
    doorbell.ask(session, lane.name)
    return run


def _known(name: str) -> Lane:
    try:
        return registry.lane(name)
    except UnknownLane:
        told = say("There is no lane “%(name)s”.", name=name)
        raise NotFound("unknown_lane", told, field="lane") from None


def _locked_setting(session: Session, lane: Lane) -> LaneSetting:
    """Return the lane's row, locked until the caller commits; made when missing."""
    setting = session.get(LaneSetting, lane.name, with_for_update=True)
    if setting is not None:
        return setting
    setting = LaneSetting(lane=lane.name)
    try:
        with session.begin_nested():
            session.add(setting)
    except IntegrityError:  # another request made it a moment ago
        return session.get_one(LaneSetting, lane.name, with_for_update=True)
    return setting


def _is_asked(session: Session, lane: Lane) -> bool:
    waiting = select(LaneRun.id).where(
        LaneRun.lane == lane.name, LaneRun.started_at.is_(None)
    )
    return bool(session.scalar(select(exists(waiting))))


def _facts(setting: LaneSetting) -> dict[str, Any]:
    return {
        "is_paused": setting.is_paused,
        "paused_by": setting.paused_by,
        "paused_at": setting.paused_at and setting.paused_at.isoformat(),
        "workers": setting.workers,
    }


def _audit(
    session: Session,
    setting: LaneSetting,
    actor: Actor,
    verb: str,
    summary: str,
    before: dict[str, Any],
) -> None:
    subject = Subject("lane", setting.lane)
    after = _facts(setting)
    record(session, actor, f"lane.{verb}", subject, summary, before=before, after=after)
