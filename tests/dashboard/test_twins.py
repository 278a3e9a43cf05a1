"""Two congregations with the same names: as one, nothing of the other can be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, sessionmaker
from werkzeug.routing import Rule as Route

from dashboard.operators.models import RoleName
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.holds.setting import What, hold
from tasks.models import (
    Attempt,
    AttemptOutcome,
    AuditEntry,
    Base,
    Decision,
    DecisionOutcome,
    Episode,
    EpisodeGuest,
    Event,
    ExecutionMessage,
    ExecutionState,
    FailureGroup,
    Hold,
    OfCongregation,
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
from tasks.storage import Storage, make_storage
from tests.dashboard.conftest import Browser
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

#: In every text of the other congregation, and nowhere else.
MARK = "zwillingsgeheimnis"


@dataclass(frozen=True, slots=True)
class Twin:
    """A congregation and the ids by which its rows are asked for."""

    id: UUID
    slug: str
    ids: dict[str, str]


def _twin(session: Session, slug: str, mark: str, storage: Storage) -> Twin:
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


@pytest.fixture
def make_db(sqlite_engine: Engine) -> sessionmaker[Session]:
    """Return unscoped sessions on the console's database."""
    return sessions(sqlite_engine)


@pytest.fixture
def twins(make_db: sessionmaker[Session], app: Flask) -> tuple[Twin, Twin]:
    """Return the congregation that looks, and the one that must not be seen."""
    storage = make_storage(app.config["CARILLON"])
    with make_db.begin() as session:
        return (
            _twin(session, "ours", "harmless", storage),
            _twin(session, "theirs", MARK, storage),
        )


@pytest.fixture
def admin_of_ours(twins: tuple[Twin, Twin], log_in: Callable[..., Browser]) -> Browser:
    """Return the browser of an admin of the first congregation only."""
    return log_in(RoleName.ADMIN, sees_all=False, congregations=[twins[0].id])


def _routes(app: Flask, method: str) -> Iterator[Route]:
    for route in app.url_map.iter_rules():
        if method in (route.methods or ()) and not route.rule.startswith("/api/"):
            yield route


def _paths(app: Flask, method: str, twin: Twin) -> list[str]:
    """Return every path of the console that asks for rows of ``twin``."""
    with app.test_request_context():
        return [
            app.url_map.bind("localhost").build(
                route.endpoint,
                {name: twin.ids[name] for name in route.arguments},
                method,
            )
            for route in _routes(app, method)
            if route.arguments and route.arguments <= twin.ids.keys()
        ]


def _rows_of(make_db: sessionmaker[Session], twin: Twin) -> dict[str, list[object]]:
    with make_db() as session:
        found: dict[str, list[object]] = {}
        for mapper in Base.registry.mappers:
            model = mapper.class_
            may_be_of_one = (AuditEntry, Hold, Operation, SavedView)
            if issubclass(model, OfCongregation) or model in may_be_of_one:
                table = Base.metadata.tables[model.__tablename__]
                rows = session.execute(
                    select(table).where(table.c.congregation_id == twin.id)
                )
                found[table.name] = [*sorted(map(repr, rows))]
        return found


def test_the_walk_meets_every_kind_of_row(app: Flask, twins: tuple[Twin, Twin]) -> None:
    walked = {
        name
        for method in ("GET", "POST")
        for route in _routes(app, method)
        for name in route.arguments
        if route.arguments <= twins[1].ids.keys()
    }
    assert walked == twins[1].ids.keys()


def test_every_page_of_the_other_twin_is_not_found(
    app: Flask, admin_of_ours: Browser, twins: tuple[Twin, Twin]
) -> None:
    for path in _paths(app, "GET", twins[1]):
        answer = admin_of_ours.get(path)
        assert answer.status_code == 404, path
        assert MARK not in answer.get_data(as_text=True), path


def test_ones_own_pages_are_found(
    app: Flask, admin_of_ours: Browser, twins: tuple[Twin, Twin]
) -> None:
    for path in _paths(app, "GET", twins[0]):
        status = admin_of_ours.get(path).status_code
        # What cannot be edited any more leads back to its own page.
        assert status == 200 or (status == 303 and path.endswith("/edit")), path


def test_no_action_reaches_the_other_twin(
    app: Flask,
    admin_of_ours: Browser,
    twins: tuple[Twin, Twin],
    make_db: sessionmaker[Session],
) -> None:
    before = _rows_of(make_db, twins[1])
    for path in _paths(app, "POST", twins[1]):
        answer = admin_of_ours.post(path)
        assert answer.status_code == 404, f"{path}: {answer.status}"
    assert _rows_of(make_db, twins[1]) == before


def test_no_list_shows_or_counts_the_other_twin(
    app: Flask, admin_of_ours: Browser, twins: tuple[Twin, Twin]
) -> None:
    for route in _routes(app, "GET"):
        if route.arguments or route.endpoint in {"setup.show", "openapi.doc_url"}:
            continue
        answer = admin_of_ours.get(route.rule)
        text = answer.get_data(as_text=True)
        assert MARK not in text, route.rule
        assert "theirs" not in text, route.rule


def test_bulk_actions_on_everything_leave_the_other_twin_alone(
    admin_of_ours: Browser,
    twins: tuple[Twin, Twin],
    make_db: sessionmaker[Session],
) -> None:
    before = _rows_of(make_db, twins[1])
    theirs = twins[1].ids
    admin_of_ours.post("/executions/retry", data={"ids": [theirs["execution_id"]]})
    admin_of_ours.post("/executions/retry-all", data={"state": "failed"})
    admin_of_ours.post("/notifications/retry-failed")
    for path in ("executions/cancel-all", "executions/replay-all", "events/replay-all"):
        asked = {"operation": str(new_id()), "high_water": utcnow().isoformat()}
        admin_of_ours.post(f"/{path}", data=asked | {"again": "yes", "why": "All"})
    admin_of_ours.post("/scheduled/cancel", data={"ids": [theirs["job_id"]]})
    admin_of_ours.post("/scheduled/cancel-all", data={"state": "pending"})
    assert _rows_of(make_db, twins[1]) == before
