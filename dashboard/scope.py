"""Which congregations a request may see: those of the operator, or the chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from flask import Flask, abort, g, request, session
from flask_login import current_user
from sqlalchemy import select

from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.operators.models import Operator, operator_congregations
from tasks.db import Congregations, Scope, set_scope
from tasks.models import Congregation

#: Where a session keeps the chosen congregation's slug.
_CHOSEN: Final = "congregation"
#: The largest number in an address that a column can have.
_NUMBER_MAX: Final = 2**31 - 1
#: The switcher lists this many; the congregations page lists all of them.
SWITCHER_MAX: Final = 100
#: Made once: every page asks.
_BY_NAME: Final = select(Congregation).order_by(Congregation.name).limit(SWITCHER_MAX)


def current_congregations() -> Sequence[Congregation]:
    """Return the congregations that the operator may choose from, by name.

    At most ``SWITCHER_MAX``; also those that the present choice hides.
    """
    if "congregations" not in g:
        database = db.session()
        set_scope(database, g.allowed)
        g.congregations = database.scalars(_BY_NAME).all()
        set_scope(database, g.scope)
    found: Sequence[Congregation] = g.congregations
    return found


def allowed_congregations() -> Congregations:
    """Return the congregations that the operator may see, whatever is chosen now."""
    found: Congregations = g.allowed
    return found


def chosen_congregation() -> Congregation | None:
    """Return the congregation that the operator looks at; None: all they may see."""
    found: Congregation | None = g.get("chosen")
    return found


def only_congregation() -> Congregation | None:
    """Return the congregation that all rows on the page belong to; None: several.

    Lists name no congregation then, because they would say the same in every row.
    """
    congregations = current_congregations()
    return congregations[0] if len(congregations) == 1 else chosen_congregation()


def _allowed(operator: Operator) -> Congregations:
    if operator.sees_all:
        return Scope.EVERY
    ids: Sequence[UUID] = (
        db.session()
        .scalars(
            select(operator_congregations.c.congregation_id).where(
                operator_congregations.c.operator_id == operator.id
            )
        )
        .all()
    )
    return frozenset(ids)


def _refuse_strange_names() -> None:
    """Say of what no database takes even in a question that it is not there."""
    for value in (request.view_args or {}).values():
        if isinstance(value, str) and "\0" in value:
            abort(404)
        if isinstance(value, int) and value > _NUMBER_MAX:
            abort(404)


def _set_scope() -> None:
    g.allowed = g.scope = frozenset()
    if request.endpoint is None or not current_user.is_authenticated:
        return  # a session without a scope sees nothing
    database = db.session()
    g.allowed = g.scope = _allowed(current_user)
    set_scope(database, g.allowed)
    if _CHOSEN in request.args:
        session[_CHOSEN] = clean(request.args[_CHOSEN])[:64]
    if slug := session.get(_CHOSEN):
        g.chosen = database.scalar(select(Congregation).filter_by(slug=slug))
        if g.chosen is None:  # gone, or not theirs any more
            session.pop(_CHOSEN)
            return
        g.scope = frozenset({g.chosen.id})
        set_scope(database, g.scope)


def init_app(app: Flask) -> None:
    """Set the scope of every request, after the guard and before the view."""
    app.before_request(_refuse_strange_names)
    app.before_request(_set_scope)
    app.jinja_env.globals.update(
        current_congregations=current_congregations,
        chosen_congregation=only_congregation,
    )
