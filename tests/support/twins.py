"""A congregation with one row of each kind, and the ids by which pages ask for them."""

from __future__ import annotations

from dataclasses import dataclass
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
    ExecutionMessage,
    ExecutionState,
    FailureGroup,
    Operation,
    OperationKind,
    OperationState,
    RateSlot,
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
from tasks.storage import Storage
from tests.support import (
    address_rows,
    board_rows,
    factories,
    notification_rows,
    outreach,
    territory_rows,
    transfer_rows,
)
from tests.support.factories import NOW
from tests.support.failures import note
from tests.support.webhooks import webhooks


@dataclass(frozen=True, slots=True)
class Twin:
    """A congregation and the ids by which its rows are asked for."""

    id: UUID
    slug: str
    ids: dict[str, str]


def twin(session: Session, slug: str, mark: str, storage: Storage) -> Twin:
    """Add a congregation with one row of each kind, and ``mark`` in its texts."""
    tenant = factories.congregation(session, slug, name="St. Same")
    booking = factories.booking(session, tenant, id=f"b-{slug}", guest_name=mark)
    about = {"congregation_id": tenant, "podcast_id": "show"}
    episode = Episode(**about, id=f"e-{slug}", title=mark)
    guest = EpisodeGuest(**about, id=f"g-{slug}", name=mark, episode_id=episode.id)
    session.add_all([episode, guest])
    step = {"number": 1, "delay": 5, "action": "email", "max_attempts": 5}
    step["settings"] = factories.EMAIL_SETTINGS | {"subject": mark}
    wanted = {"field": "guest.name", "operator": "is", "value": mark}
    rule = factories.rule(
        session,
        tenant,
        name=f"Welcome {mark}",
        steps=[step],
        conditions={"rows": [wanted]},
        rate_limit=1,
    )
    reminder = factories.reminder(session, tenant, name=f"Reminder {mark}")
    keep_version(session, rule, Actor(f"{mark}@example.org"), "created", NOW)
    event = Event(
        congregation_id=tenant,
        id=new_id(),
        type="booking.confirmed",
        podcast_id="show",
        booking_id=booking.id,
        episode_id=episode.id,
        guest_id=guest.id,
        source=mark[:32],
        occurred_at=NOW,
    )
    session.add(event)
    session.flush()
    execution = factories.execution(
        session,
        rule,
        event_id=event.id,
        booking_id=booking.id,
        recipient=f"{mark}@example.org",
        state=ExecutionState.FAILED,
        error=f"No route to {mark}",
        settled_at=NOW,
        context={"guest": {"name": mark}},
    )
    job = factories.job(session, reminder, booking_id=booking.id)
    common = {"congregation_id": tenant, "execution_id": execution.id}
    session.add_all(
        [
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
            Decision(
                congregation_id=tenant,
                event_id=event.id,
                rule_id=rule.id,
                rule_version=1,
                entity_id=booking.id,
                outcome=DecisionOutcome.FIRED,
                execution_id=execution.id,
            ),
            Decision(
                congregation_id=tenant,
                event_id=event.id,
                rule_id=rule.id,
                rule_version=1,
                outcome=DecisionOutcome.NO,
                reason="condition_false",
                detail=f"Seen: {mark}",
            ),
            RateSlot(
                **common, number=1, rule_id=rule.id, at=NOW + timedelta(days=9_000)
            ),
        ]
    )
    note(session, execution, NOW)
    alike = session.scalars(
        select(FailureGroup).where(FailureGroup.congregation_id == tenant)
    ).one()
    silent = suppress(
        session,
        tenant,
        f"{mark}@example.org",
        SuppressionReason.ASKED,
        Actor("system"),
        note=mark,
    )
    kept = hold(session, What(rule_id=rule.id), mark, Actor(mark), now=NOW)
    operation = Operation(
        congregation_id=tenant,
        kind=OperationKind.RETRY_EXECUTIONS,
        matching={"text": mark},
        high_water=NOW,
        why=mark,
        actor=f"{mark}@example.org",
        state=OperationState.STOPPED,
        n_total=1,
        skipped={mark: {"n": 1, "ids": [str(execution.id)]}},
        touched_at=NOW,
    )
    session.add(operation)
    view = SavedView(
        owner_id=new_id(),
        owner=f"{mark}@example.org",
        is_shared=True,
        congregation_id=tenant,
        list_name="executions",
        name=f"View {mark}",
        filter={"q": mark},
    )
    session.add(view)
    session.flush()
    engaged = outreach.engagement(
        session, tenant, f"{mark}@example.org", agent=f"{mark}@agents.org", stage=mark
    )
    campaign, _ = save_campaign(session, tenant, mark, 5, Actor(mark))
    listed = import_contacts(
        session, tenant, [{"address": f"l-{mark}@example.org"}], How(), Actor(mark)
    )
    rows = [FileRow(2, {"address": f"d-{mark}@example.org"})]
    waits = upload(
        session, tenant, f"{mark}.csv", ContactFile("Line", mark, (), rows), Actor(mark)
    )
    token, _ = create_token(
        session, tenant, f"Site {mark}", SCOPES, None, Actor("system")
    )
    record(
        session,
        Actor(f"{mark}@example.org"),
        "rule.created",
        Subject("rule", str(rule.id), tenant),
        f"Created {mark}",
    )
    return Twin(
        tenant,
        slug,
        {
            "slug": slug,
            "podcast_id": "show",
            "booking_id": booking.id,
            "episode_id": episode.id,
            "guest_id": guest.id,
            "rule_id": str(rule.id),
            "version": "1",
            "event_id": str(event.id),
            "execution_id": str(execution.id),
            "failure_id": str(alike.id),
            "kind": "execution",  # of what waits, with the id of its row
            "row_id": str(execution.id),
            "job_id": str(job.id),
            "operation_id": str(operation.id),
            "saved_view_id": str(view.id),
            "hold_id": str(kept.id),
            "token_id": str(token.id),
            "engagement_id": str(engaged.id),
            "contact_id": str(engaged.contact_id),
            "agent_id": str(engaged.agent_id),
            "outreach_campaign_id": str(campaign.id),
            "contact_import_id": str(listed.row.id),
            "contact_draft_id": str(waits.id),
            "suppression_id": str(silent.id),
            **factories.sources(session, tenant, mark),
            **address_rows.known(session, tenant, mark),
            **territory_rows.office(session, tenant, mark),
            **notification_rows.told(session, tenant, mark),
            **webhooks(session, event, mark),
            **board_rows.on_board(session, tenant, mark, storage),
            **transfer_rows.on_its_way(session, tenant, mark),
        },
    )
