"""Saving views, changing and deleting them; what others see of it is audited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    and_,
    bindparam,
    func,
    or_,
    select,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dashboard.operators.models import Operator, RoleName
from dashboard.search.kinds import SEARCHED
from dashboard.search.searched import Searched
from tasks.errors import Conflict, InvalidInput, NotFound
from tasks.models import Congregation, SavedView
from tasks.models.base import Json
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say
from tasks.views.warning import forget_warnings

#: Views that one operator may keep.
VIEWS_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class Wish:
    """What an operator says about a view."""

    name: str
    is_shared: bool
    congregation_id: UUID | None  # None: it is for everybody, or for its owner alone
    alert_at: int | None
    by_mail: bool = False  # also mailed; only with a number from which on it warns


def seen_by(operator: Operator) -> ColumnElement[bool]:
    """Return what makes a view one that an operator sees within the session's scope."""
    return _seen_by(operator.role, operator.id)


def _seen_by(
    role: RoleName, owner_id: UUID | BindParameter[UUID]
) -> ColumnElement[bool]:
    for_them = or_(
        SavedView.congregation_id.is_(None),
        SavedView.congregation_id.in_(select(Congregation.id)),
    )
    mine = SavedView.owner_id == owner_id
    hidden = [word for word, of in SEARCHED.items() if not role.covers(_role(of))]
    is_open = SavedView.list_name.not_in(hidden)
    return and_(is_open, or_(mine, and_(SavedView.is_shared, for_them)))


def _role(of: Searched) -> RoleName:
    return RoleName(of.role)


def visible(
    session: Session, operator: Operator, limit: int, list_name: str | None = None
) -> Sequence[SavedView]:
    """Return the views that an operator sees, by list and name."""
    wanted = _visible(operator.role, limit, of_list=list_name is not None)
    sets = {"owner_id": operator.id, "list_name": list_name}
    return session.scalars(wanted, sets).all()


@lru_cache  # roles and limits are few, and every page asks
def _visible(role: RoleName, limit: int, *, of_list: bool) -> Select[SavedView]:
    statement = select(SavedView).where(_seen_by(role, bindparam("owner_id")))
    if of_list:
        statement = statement.where(SavedView.list_name == bindparam("list_name"))
    order = (SavedView.list_name, SavedView.name, SavedView.id)
    return statement.order_by(*order).limit(limit)


def may_change(operator: Operator, view: SavedView) -> bool:
    """Whether an operator may change a view that they see."""
    if view.owner_id == operator.id:
        return True
    if not view.is_shared or not operator.role.covers(RoleName.OPERATOR):
        return False
    return view.congregation_id is not None or operator.sees_all


def seen(session: Session, operator: Operator, view_id: UUID) -> SavedView:
    """Return a view.

    Raises:
        NotFound: the operator sees no such view.
    """
    view = session.scalar(
        select(SavedView).where(SavedView.id == view_id, seen_by(operator))
    )
    if view is None:
        raise NotFound("unknown_view", say("There is no such view."))
    return view


def changeable(session: Session, operator: Operator, view_id: UUID) -> SavedView:
    """Return a view to be changed.

    Raises:
        NotFound: the operator sees no such view.
        Conflict: it is another one's, and theirs to change.
    """
    view = seen(session, operator, view_id)
    if not may_change(operator, view):
        told = say("Only %(owner)s or an admin may change it.", owner=view.owner)
        raise Conflict("not_yours", told)
    return view


def save(
    session: Session,
    operator: Operator,
    actor: Actor,
    list_name: str,
    filter_: Json,
    wish: Wish,
    now: datetime,
) -> SavedView:
    """Save a filter; a view of the same name and owner shows this one from now on.

    Raises:
        InvalidInput: the operator has ``VIEWS_MAX`` of them.
        Conflict: one of that name was saved in the same moment.
    """
    view = _of_name(session, operator.id, list_name, wish.name)
    if view is None:
        _refuse_more(session, operator)
        view = SavedView(
            owner_id=operator.id,
            owner=operator.email,
            list_name=list_name,
            name=wish.name,
            filter={},
            is_shared=False,
            created_at=now,
        )
        session.add(view)
    before = _told(view) if view.is_shared else None
    is_other = view.filter != filter_
    view.filter = filter_
    _put(session, view, wish, actor, before, now)
    if is_other:
        forget_warnings(session, view, now)
    return view


def change(
    session: Session, view: SavedView, wish: Wish, actor: Actor, now: datetime
) -> None:
    """Change what a view is called, whom it is for, and when it warns.

    Raises:
        Conflict: its owner has another one of that name on the same list.
    """
    other = _of_name(session, view.owner_id, view.list_name, wish.name)
    if other is not None and other.id != view.id:
        raise _taken()
    before = _told(view) if view.is_shared else None
    view.name = wish.name
    _put(session, view, wish, actor, before, now)


def delete(session: Session, view: SavedView, actor: Actor) -> None:
    """Delete a view; the rows that it shows are not touched."""
    if view.is_shared:
        _audit(session, view, actor, "view.deleted", before=_told(view))
    session.delete(view)
    session.flush()


def _put(
    session: Session,
    view: SavedView,
    wish: Wish,
    actor: Actor,
    before: Json | None,
    now: datetime,
) -> None:
    former = view.congregation_id
    view.is_shared = wish.is_shared
    view.congregation_id = wish.congregation_id if wish.is_shared else None
    is_otherwise = (view.alert_at, view.by_mail) != (wish.alert_at, wish.by_mail)
    view.alert_at, view.by_mail = wish.alert_at, wish.by_mail
    view.changed_at = now
    try:
        with session.begin_nested():
            session.flush()
    except IntegrityError as error:  # saved twice in the same moment
        raise _taken() from error
    if is_otherwise:
        forget_warnings(session, view, now)
    if view.is_shared:
        action = "view.shared" if before is None else "view.changed"
        _audit(session, view, actor, action, before=before, after=_told(view))
    elif before is not None:  # it is told to whom it was shared with
        _audit(session, view, actor, "view.unshared", of=former, before=before)


def _of_name(
    session: Session, owner_id: UUID, list_name: str, name: str
) -> SavedView | None:
    return session.scalar(
        select(SavedView).where(
            SavedView.owner_id == owner_id,
            SavedView.list_name == list_name,
            SavedView.name == name,
        )
    )


def _taken() -> Conflict:
    return Conflict(
        "name_taken",
        say("There is a view of this name for the same list; choose another name."),
        field="name",
    )


def _refuse_more(session: Session, operator: Operator) -> None:
    mine = select(func.count()).where(SavedView.owner_id == operator.id)
    if (session.scalar(mine) or 0) >= VIEWS_MAX:
        raise InvalidInput(
            "too_many_views",
            say(
                "You have %(n)s views, which is the most. Delete one first.",
                n=VIEWS_MAX,
            ),
            field="name",
        )


def _told(view: SavedView) -> Json:
    return {
        "name": view.name,
        "list": view.list_name,
        "filter": view.filter,
        "alert_at": view.alert_at,
        "by_mail": view.by_mail,
    }


def _audit(
    session: Session,
    view: SavedView,
    actor: Actor,
    action: str,
    *,
    of: UUID | None = None,
    **values: Any,  # noqa: ANN401  # before and after
) -> None:
    verb = action.partition(".")[2].capitalize()
    record(
        session,
        actor,
        action,
        Subject("view", str(view.id), of or view.congregation_id),
        f"{verb} the view “{view.name}” of {view.list_name}.",
        **values,
    )
