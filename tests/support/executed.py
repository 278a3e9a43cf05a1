"""Executions of a lane's test, and what became of them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.held import Claim
from tasks.models import Attempt, Execution
from tests.support import factories
from tests.support.factories import NOW
from tests.support.fakes import FakePost, bench
from tests.support.leases import claim

Sessions = sessionmaker[Session]


def noon() -> datetime:
    return NOW


def add_one(make_session: Sessions, **values: object) -> UUID:
    [id_] = add_many(make_session, 1, **values)
    return id_


def add_many(make_session: Sessions, n: int, **values: object) -> list[UUID]:
    """Add ``n`` executions of one rule."""
    with make_session.begin() as session:
        tenant = factories.congregation(session)
        factories.booking(session, tenant)
        rule = factories.rule(session, tenant)
        return [factories.execution(session, rule, **values).id for _ in range(n)]


def get_one(make_session: Sessions, execution_id: UUID) -> Execution:
    with make_session() as session:
        return session.get_one(Execution, execution_id)


def attempts_of(make_session: Sessions, execution_id: UUID) -> list[Attempt]:
    with make_session() as session:
        return list(
            session.scalars(
                select(Attempt)
                .where(Attempt.execution_id == execution_id)
                .order_by(Attempt.number)
            )
        )


def claim_one(make_session: Sessions) -> tuple[UUID, Claim]:
    id_ = add_one(make_session)
    with make_session.begin() as session:
        [claimed] = claim(session, bench(make_session, noon, FakePost()), limit=1)
    return id_, claimed.claim
