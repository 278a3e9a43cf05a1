"""What both twins have: rows of each area, and the ids by which pages ask for them.

Each function adds the rows of one area, with ``mark`` in their texts.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.holds.setting import What, hold
from tasks.models import (
    Attempt,
    AttemptOutcome,
    Decision,
    DecisionOutcome,
    Episode,
    EpisodeGuest,
    Event,
    Execution,
    ExecutionMessage,
    ExecutionState,
    FailureGroup,
    Operation,
    OperationKind,
    OperationState,
    RateSlot,
    Rule,
    SavedView,
    SuppressionReason,
    new_id,
)
from tasks.operations.audit import Actor, Subject, record
from tasks.operations.rule_versions import keep_version
from tasks.operations.suppressions import suppress
from tasks.operations.tokens import SCOPES, create_token
from tasks.outreach.campaigns import save_campaign
from tasks.outreach.contact_files import ContactFile, FileRow
from tasks.outreach.drafts import upload
from tasks.outreach.import_rows import How
from tasks.outreach.importing import import_contacts
from tests.support import factories, outreach
from tests.support.factories import NOW
from tests.support.failures import note


def on_air(session: Session, of: UUID, slug: str, mark: str) -> dict[str, str]:
    """Add a booking, and an episode with its guest."""
    booking = factories.booking(session, of, id=f"b-{slug}", guest_name=mark)
    about = {"congregation_id": of, "podcast_id": "show"}
    episode = Episode(**about, id=f"e-{slug}", title=mark)
    guest = EpisodeGuest(**about, id=f"g-{slug}", name=mark, episode_id=episode.id)
    session.add_all([episode, guest])
    session.flush()
    return {
        "podcast_id": "show",
        "booking_id": booking.id,
        "episode_id": episode.id,
        "guest_id": guest.id,
    }


def ruled(
    session: Session, of: UUID, air: dict[str, str], mark: str
) -> tuple[Event, dict[str, str]]:
    """Add rules and what came of them: an event, an execution that failed, a job."""
    rule = _rule(session, of, mark)
    reminder = factories.reminder(session, of, name=f"Reminder {mark}")
    event = _event(session, of, air, mark)
    execution = _failed(session, rule, event, mark)
    session.add_all(_traces(execution, mark))
    session.add_all(_decisions(execution, event, mark))
    note(session, execution, NOW)
    alike = session.scalars(
        select(FailureGroup).where(FailureGroup.congregation_id == of)
    ).one()
    job = factories.job(session, reminder, booking_id=event.booking_id)
    kept = hold(session, What(rule_id=rule.id), mark, Actor(mark), now=NOW)
    return event, {
        "rule_id": str(rule.id),
        "version": "1",
        "event_id": str(event.id),
        "execution_id": str(execution.id),
        "failure_id": str(alike.id),
        "kind": "execution",  # of what waits, with the id of its row
        "row_id": str(execution.id),
        "job_id": str(job.id),
        "hold_id": str(kept.id),
    }


def _rule(session: Session, of: UUID, mark: str) -> Rule:
    step = {"number": 1, "delay": 5, "action": "email", "max_attempts": 5}
    step["settings"] = factories.EMAIL_SETTINGS | {"subject": mark}
    wanted = {"field": "guest.name", "operator": "is", "value": mark}
    rule = factories.rule(
        session,
        of,
        name=f"Welcome {mark}",
        steps=[step],
        conditions={"rows": [wanted]},
        rate_limit=1,
    )
    keep_version(session, rule, Actor(f"{mark}@example.org"), "created", NOW)
    who = Actor(f"{mark}@example.org")
    about = Subject("rule", str(rule.id), of)
    record(session, who, "rule.created", about, f"Created {mark}")
    return rule


def _event(session: Session, of: UUID, air: dict[str, str], mark: str) -> Event:
    event = Event(
        congregation_id=of,
        id=new_id(),
        type="booking.confirmed",
        **air,
        source=mark[:32],
        occurred_at=NOW,
    )
    session.add(event)
    session.flush()
    return event


def _failed(session: Session, rule: Rule, event: Event, mark: str) -> Execution:
    return factories.execution(
        session,
        rule,
        event_id=event.id,
        booking_id=event.booking_id,
        recipient=f"{mark}@example.org",
        state=ExecutionState.FAILED,
        error=f"No route to {mark}",
        settled_at=NOW,
        context={"guest": {"name": mark}},
    )


def _traces(execution: Execution, mark: str) -> list[object]:
    """Return what an execution leaves behind when it acts."""
    common = {
        "congregation_id": execution.congregation_id,
        "execution_id": execution.id,
    }
    return [
        Attempt(
            **common,
            number=1,
            worker=mark,
            started_at=NOW,
            finished_at=NOW,
            outcome=AttemptOutcome.FAILED,
            error=mark,
        ),
        ExecutionMessage(
            **common, message={"subject": mark, "html": mark}, composed_at=NOW
        ),
        RateSlot(
            **common,
            number=1,
            rule_id=execution.rule_id,
            at=NOW + timedelta(days=9_000),
        ),
    ]


def _decisions(execution: Execution, event: Event, mark: str) -> list[Decision]:
    """Return the rule's "yes" to ``event``, and a "no"."""
    common = {
        "congregation_id": event.congregation_id,
        "event_id": event.id,
        "rule_id": execution.rule_id,
        "rule_version": 1,
    }
    yes = Decision(
        **common,
        entity_id=event.booking_id,
        outcome=DecisionOutcome.FIRED,
        execution_id=execution.id,
    )
    no = Decision(
        **common,
        outcome=DecisionOutcome.NO,
        reason="condition_false",
        detail=f"Seen: {mark}",
    )
    return [yes, no]


def operated(
    session: Session, of: UUID, execution_id: str, mark: str
) -> dict[str, str]:
    """Add what operators leave: an operation, a view, a stopped address, a token."""
    operation = _operation(of, execution_id, mark)
    view = SavedView(
        owner_id=new_id(),
        owner=f"{mark}@example.org",
        is_shared=True,
        congregation_id=of,
        list_name="executions",
        name=f"View {mark}",
        filter={"q": mark},
    )
    session.add_all([operation, view])
    session.flush()
    address = f"{mark}@example.org"
    asked, system = SuppressionReason.ASKED, Actor("system")
    silent = suppress(session, of, address, asked, system, note=mark)
    token, _ = create_token(session, of, f"Site {mark}", SCOPES, None, system)
    return {
        "operation_id": str(operation.id),
        "saved_view_id": str(view.id),
        "suppression_id": str(silent.id),
        "token_id": str(token.id),
    }


def _operation(of: UUID, execution_id: str, mark: str) -> Operation:
    return Operation(
        congregation_id=of,
        kind=OperationKind.RETRY_EXECUTIONS,
        matching={"text": mark},
        high_water=NOW,
        why=mark,
        actor=f"{mark}@example.org",
        state=OperationState.STOPPED,
        n_total=1,
        skipped={mark: {"n": 1, "ids": [execution_id]}},
        touched_at=NOW,
    )


def reached_out(session: Session, of: UUID, mark: str) -> dict[str, str]:
    """Add an engagement, a campaign, an import of contacts, and one that waits."""
    who = Actor(mark)
    engaged = outreach.engagement(
        session, of, f"{mark}@example.org", agent=f"{mark}@agents.org", stage=mark
    )
    campaign, _ = save_campaign(session, of, mark, 5, who)
    listed = import_contacts(
        session, of, [{"address": f"l-{mark}@example.org"}], How(), who
    )
    rows = [FileRow(2, {"address": f"d-{mark}@example.org"})]
    file = ContactFile("Line", mark, (), rows)
    waits = upload(session, of, f"{mark}.csv", file, who)
    return {
        "engagement_id": str(engaged.id),
        "contact_id": str(engaged.contact_id),
        "agent_id": str(engaged.agent_id),
        "outreach_campaign_id": str(campaign.id),
        "contact_import_id": str(listed.row.id),
        "contact_draft_id": str(waits.id),
    }
