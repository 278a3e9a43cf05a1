"""Who is to hear by mail that a view warns, and how many rows each of them sees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from flask import Flask, g
from flask_login import LoginManager
from sqlalchemy import ColumnElement, Engine, and_, false, or_, select
from sqlalchemy.orm import Session

from dashboard.exports.sources import SOURCES
from dashboard.operators.models import (
    Operator,
    Role,
    RoleName,
    operator_congregations,
    operators_roles,
)
from dashboard.scope import SWITCHER_MAX
from dashboard.search.kinds import SEARCHED
from tasks.db import (
    Congregations,
    CongregationSession,
    Scope,
    end_reading,
    reading,
    set_scope,
)
from tasks.errors import InvalidInput
from tasks.models import Congregation, SavedView
from tasks.operations.bulk import count
from tasks.views.reading import Seen

#: People who hear of one view; those who have been operators for longest come first.
PEOPLE_MAX: Final = 200
#: As whom a list is read; lists ask the request, which is made for that.
_reader: Final[ContextVar[Operator]] = ContextVar("reader")


class Reader:
    """Reads a view as each of the people who are to hear of it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # Not the console: only what a list asks of a request, which is who looks.
        self._app = Flask(__name__)
        login = LoginManager(self._app)
        login.request_loader(lambda _request: _reader.get())

    def __call__(self, view: SavedView, now: datetime) -> Sequence[Seen]:
        """Return how many rows of a view each of its people sees."""
        if view.list_name not in SEARCHED:
            return []
        with Session(self._engine, expire_on_commit=False) as session:
            reading(session)
            people = _people(session, view)
            scopes = _scopes(session, people)
            session.commit()
        counted: dict[tuple[Any, ...], int | None] = {}
        for each in people:
            key = _key(view, each, scopes[each.id])
            if key not in counted:
                counted[key] = self._count(view, each, scopes[each.id], now)
        return [
            Seen(
                each.id,
                each.email,
                each.language,
                counted[_key(view, each, scopes[each.id])],
            )
            for each in people
        ]

    def _count(
        self, view: SavedView, operator: Operator, scope: Congregations, now: datetime
    ) -> int | None:
        token = _reader.set(operator)
        try:
            with (
                self._app.test_request_context(),
                CongregationSession(self._engine) as session,
            ):
                set_scope(session, scope)
                reading(session)
                g.allowed = g.scope = scope
                seen = select(Congregation).order_by(Congregation.name)
                g.congregations = session.scalars(seen.limit(SWITCHER_MAX)).all()
                source = SOURCES[view.list_name](session, now, view.filter)
                n = count(session, source.ids, view.alert_at or 1)
                end_reading(session)
                return n
        except InvalidInput:  # saved when a field or a word was still known
            return None
        finally:
            _reader.reset(token)


def _key(view: SavedView, operator: Operator, scope: Congregations) -> tuple[Any, ...]:
    # Of operations, everybody also sees those that they asked for themselves.
    whose = operator.id if view.list_name == "operations" else None
    # What "today" is, the clock of who looks says.
    return scope, operator.timezone, whose


def _people(session: Session, view: SavedView) -> Sequence[Operator]:
    """Return its owner, and the operators and admins with whom it is shared."""
    wanted = or_(Operator.id == view.owner_id, _shares(view))
    found = session.scalars(
        select(Operator)
        .where(Operator.active, wanted)
        .order_by(Operator.id)
        .limit(PEOPLE_MAX)
    )
    needed = RoleName(SEARCHED[view.list_name].role)
    return [each for each in found if each.role.covers(needed)]


def _shares(view: SavedView) -> ColumnElement[bool]:
    if not view.is_shared:
        return false()
    acts = (
        select(Role.id)
        .join(operators_roles, operators_roles.c.role_id == Role.id)
        .where(
            operators_roles.c.operator_id == Operator.id,
            Role.name.in_((RoleName.OPERATOR, RoleName.ADMIN)),
        )
    )
    if view.congregation_id is None:
        return acts.exists()
    assigned = select(operator_congregations.c.operator_id).where(
        operator_congregations.c.operator_id == Operator.id,
        operator_congregations.c.congregation_id == view.congregation_id,
    )
    return and_(acts.exists(), or_(Operator.sees_all, assigned.exists()))


def _scopes(
    session: Session, people: Sequence[Operator]
) -> Mapping[UUID, Congregations]:
    """Return which congregations each of them may see."""
    of = operator_congregations.c
    ids = [each.id for each in people if not each.sees_all]
    rows = session.execute(
        select(of.operator_id, of.congregation_id).where(of.operator_id.in_(ids))
    )
    assigned: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for operator_id, congregation_id in rows:
        assigned[operator_id].add(congregation_id)
    return {
        each.id: Scope.EVERY if each.sees_all else frozenset(assigned[each.id])
        for each in people
    }
