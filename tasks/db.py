"""Engines, transactions, and sessions that see only their congregations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from typing import Final
from uuid import UUID

from sqlalchemy import Engine, create_engine, event, select
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.orm import (
    ORMExecuteState,
    Session,
    UOWTransaction,
    sessionmaker,
    with_loader_criteria,
)
from sqlalchemy.pool import ConnectionPoolEntry

from tasks import sqlite
from tasks.config import LOOP_RATE
from tasks.errors import NotFound, ScopeMissing
from tasks.models.access import AuditEntry
from tasks.models.base import OfCongregation
from tasks.models.congregation import Congregation
from tasks.saying import say

#: Opens one transaction: commits at the end of the block, rolls back on an error.
Begin = Callable[[], AbstractContextManager[Session]]

#: Longest wait for a lock on PostgreSQL, in milliseconds.
PG_LOCK_TIMEOUT_MS: Final = 10_000
#: What every connection to PostgreSQL sets.
_PG: Final = {
    "timezone": "UTC",
    "lock_timeout": PG_LOCK_TIMEOUT_MS,
    # Of a disk without a turning head.  With the default of 4, an old estimate of how
    # much is due makes each claim read and sort all of a backlog, not its oldest rows.
    "random_page_cost": 1.1,
    # Compiling takes longer than any statement of ours.
    "jit": "off",
}
#: A connection that was not used for so long, in seconds, is tried first.
_IDLE_SECONDS: Final = 1.0
#: Where a connection's record notes when it was last used, monotonic.
_USED_AT: Final = "used_at"


def make_engine(
    url: URL,
    *,
    pool_size: int = 10,
    max_overflow: int = 20,
    loop_rate: int = LOOP_RATE,
) -> Engine:
    """Return an engine for PostgreSQL or SQLite with the settings we rely on.

    What an error tells has no parameters: logs are no place for people's values.
    SQLite: WAL, full sync, foreign keys on, and ``BEGIN IMMEDIATE`` for every
    transaction that may write, so that two writers wait instead of failing.

    Args:
        loop_rate: a setting that sessions carry to the loop guard, so that producers
            need not know the settings.
    """
    if url.get_backend_name() == "sqlite":
        engine = create_engine(
            url,
            pool_size=pool_size,
            max_overflow=max_overflow,
            hide_parameters=True,
            execution_options={"loop_rate": loop_rate},
            connect_args=dict(sqlite.ARGUMENTS),
        )
        sqlite.prepare(engine)
        return engine
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=max_overflow,
        hide_parameters=True,
        # The connection that was used last has prepared what is asked most.
        pool_use_lifo=True,
        execution_options={"loop_rate": loop_rate},
        connect_args={
            "connect_timeout": 5,
            "options": " ".join(f"-c {name}={value}" for name, value in _PG.items()),
            "keepalives_idle": 15,
            "tcp_user_timeout": 15_000,
        },
    )
    _ping_idle_connections(engine)
    return engine


def _ping_idle_connections(engine: Engine) -> None:
    """Try a connection before it is used, unless it was used just now.

    SQLAlchemy's own ``pool_pre_ping`` asks every time: one more round trip for each
    transaction, which is what a short one costs.
    """

    def note(_connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
        record.info[_USED_AT] = time.monotonic()

    def ping(
        connection: DBAPIConnection, record: ConnectionPoolEntry, _proxy: object
    ) -> None:
        idle = time.monotonic() - record.info.get(_USED_AT, 0.0)
        if idle < _IDLE_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            # The pool opens another one instead; so it does for all as old as this.
            raise InvalidatePoolError from error

    event.listen(engine, "connect", note)
    event.listen(engine, "checkin", note)
    event.listen(engine, "checkout", ping)


def sessions(engine: Engine) -> sessionmaker[Session]:
    """Return a factory of unscoped sessions, for sweeps."""
    return sessionmaker(engine, expire_on_commit=False)


class Scope(Enum):
    """A scope that is not a set of congregations."""

    EVERY = "every congregation, also those to come"


#: Which congregations a scoped session may see and write.
Congregations = frozenset[UUID] | Scope
_SCOPE_KEY: Final = "congregations"


class CongregationSession(Session):
    """A session that sees only its congregations' rows; with none set, it sees none.

    Pages and API use it.  The filter goes into every ORM-enabled SELECT, UPDATE and
    DELETE, and a flush that would write outside of the scope is refused.
    """


def set_scope(session: Session, congregations: Congregations) -> None:
    """Say which congregations a scoped session may see, from now on."""
    session.info[_SCOPE_KEY] = congregations


def scope_of(session: Session) -> Congregations:
    """Return what the session may see; an unscoped session sees every congregation."""
    if not isinstance(session, CongregationSession):
        return Scope.EVERY
    scope: Congregations = session.info.get(_SCOPE_KEY, frozenset())
    return scope


def congregation_id_of(engine: Engine, slug: str) -> UUID:
    """Return the id of the congregation with this short name; it never changes.

    Raises:
        NotFound: there is none.
    """
    with Session(engine) as session:
        reading(session)
        found = session.scalar(select(Congregation.id).where(Congregation.slug == slug))
    if found is None:
        told = say("There is no congregation “%(slug)s”.", slug=slug[:80])
        raise NotFound("unknown_congregation", told)
    return found


@contextmanager
def congregation_session(engine: Engine, congregation_id: UUID) -> Iterator[Session]:
    """Open one transaction that sees one congregation; commits at the end.

    Raises:
        TypeError: the id is no UUID, but a short name, for example.
    """
    if not isinstance(congregation_id, UUID):
        raise TypeError(
            f"{congregation_id!r} is no congregation's id; congregation_id_of(engine, "
            "its short name) finds that."
        )
    with CongregationSession(engine, expire_on_commit=False) as session:
        set_scope(session, frozenset({congregation_id}))
        with session.begin():
            yield session


@contextmanager
def seeing_only(session: Session, congregations: Congregations) -> Iterator[Session]:
    """Read in the transaction of a session, but only what some congregations have.

    A condition behind a search's window comes too late: the window would be full of
    rows of others.
    """
    session.flush()
    with CongregationSession(session.connection()) as narrower:
        set_scope(narrower, congregations)
        yield narrower


@event.listens_for(CongregationSession, "do_orm_execute")
def _filter(state: ORMExecuteState) -> None:
    scope = scope_of(state.session)
    if scope is Scope.EVERY or not (
        state.is_select or state.is_update or state.is_delete
    ):
        return

    # A tuple in the closure becomes a bound parameter, so that the cached statement of
    # one scope can never serve another; an empty one renders as "false".
    ids = tuple(scope)
    state.statement = state.statement.options(
        with_loader_criteria(
            OfCongregation,
            lambda cls: cls.congregation_id.in_(ids),
            include_aliases=True,
        ),
        with_loader_criteria(
            Congregation, Congregation.id.in_(ids), include_aliases=True
        ),
        with_loader_criteria(
            AuditEntry, AuditEntry.congregation_id.in_(ids), include_aliases=True
        ),
    )


@event.listens_for(CongregationSession, "before_flush")
def _refuse_strangers(
    session: Session, _context: UOWTransaction, _instances: object
) -> None:
    scope = scope_of(session)
    if scope is Scope.EVERY:
        return
    for row in (*session.new, *session.dirty, *session.deleted):
        if isinstance(row, OfCongregation) and row.congregation_id not in scope:
            raise ScopeMissing(
                f"{type(row).__name__} of {row.congregation_id} is outside the scope"
            )


@contextmanager
def savepoint(session: Session) -> Iterator[None]:
    """Take back what statements wrote in the block, if it fails.

    For blocks that change no objects: ``Session.begin_nested`` notes each one's state,
    which costs as much as two statements.
    """
    with session.connection().begin_nested():
        yield


def reading(session: Session) -> None:
    """Begin a read-only transaction: on SQLite it never waits for a writer."""
    session.connection(execution_options={sqlite.BEGIN_OPTION: "DEFERRED"})


def end_reading(session: Session) -> None:
    """End a transaction that has only read; what was changed in memory is forgotten.

    At a rollback psycopg forgets what it has prepared, and PostgreSQL would plan every
    statement of every page anew, which takes longer than reading what the page shows.
    """
    session.expunge_all()
    session.commit()


def glancing(session: Session) -> None:
    """Read with statements that stand alone: for one of them, often.

    On PostgreSQL nothing begins or ends around them, which are two round trips less.
    """
    if session.get_bind().dialect.name == "sqlite":
        reading(session)
    else:
        session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
