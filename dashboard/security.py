"""Who may do what, in one place: nobody may do anything that is not allowed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeVar

from flask import Flask, abort, current_app, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from dashboard.operators.models import Operator, RoleName
from dashboard.scope import current_congregations
from dashboard.web import READS, is_htmx
from tasks.operations.audit import Actor
from tasks.saying import say

__all__ = [
    "actor",
    "current_congregations",
    "current_operator",
    "may",
    "require",
]

View = TypeVar("View", bound=Callable[..., Any])
RoleWord = Literal["viewer", "operator", "admin"]

#: What works without a login.  The API asks for a token instead (``dashboard/api``).
PUBLIC: Final = frozenset(
    {
        "static",
        "bootstrap.static",
        "htmx.static",
        "healthz",
        "security.login",
        "setup.show",
        "setup.finish_setup",
        "unsubscribe.show",
        "unsubscribe.end",
    }
)
#: Blueprints that ask for their own credentials.
OWN_CREDENTIALS: Final = frozenset({"api", "hooks", "cron"})
#: Least role for everything in a blueprint, also for looking.
BLUEPRINT_ROLES: Final[Mapping[str, RoleName]] = {"operators": RoleName.ADMIN}
#: Changes that a viewer may make: they concern nobody else.
OWN_AFFAIRS: Final = frozenset(
    {
        "security.logout",
        "security.change_password",
        "account.update",
        "saved_views.create",
        "saved_views.change",
        "saved_views.delete",
    }
)


def require(role: RoleWord) -> Callable[[View], View]:
    """Let only operators with this role, or a higher one, call the view.

    Without it, looking needs a viewer and changing needs an operator.  Put it below
    the route: ``@bp.post("/")``, then ``@require("admin")``.
    """

    def mark(view: View) -> View:
        view.minimum_role = RoleName(role)  # type: ignore[attr-defined]  # a mark on the view
        return view

    return mark


def current_operator() -> Operator:
    """Return who is logged in; only called where somebody is."""
    operator = current_user._get_current_object()
    assert isinstance(operator, Operator)  # noqa: S101  # the guard has seen to it
    return operator


def actor() -> Actor:
    """Return who acts, for the audit log."""
    return Actor(current_operator().email, request.remote_addr)


def may(role: RoleWord) -> bool:
    """Whether who is logged in has this role; templates leave out what cannot work."""
    user = current_user._get_current_object()  # once: rows of lists ask as well
    is_known = isinstance(user, Operator) and user.is_authenticated
    return bool(is_known and user.role.covers(RoleName(role)))


def needed_role(endpoint: str, method: str) -> RoleName:
    """Return the least role for calling an endpoint with this method."""
    if endpoint in OWN_AFFAIRS:
        return RoleName.VIEWER
    view = current_app.view_functions[endpoint]
    blueprint = endpoint.rpartition(".")[0]
    by_method = RoleName.VIEWER if method in READS else RoleName.OPERATOR
    marked: RoleName = getattr(view, "minimum_role", by_method)
    of_blueprint = BLUEPRINT_ROLES.get(blueprint, RoleName.VIEWER)
    return marked if marked.covers(of_blueprint) else of_blueprint


def _guard() -> ResponseReturnValue | None:
    endpoint = request.endpoint
    if endpoint is None or endpoint in PUBLIC or request.blueprint in OWN_CREDENTIALS:
        return None
    if not current_user.is_authenticated:
        return _to_login()
    if not current_operator().role.covers(needed_role(endpoint, request.method)):
        abort(403, say("Your role does not allow this. An admin can change your role."))
    return None


def _to_login() -> ResponseReturnValue:
    if is_htmx():
        return "", 401, {"HX-Redirect": url_for("security.login")}
    if request.method not in READS:
        return redirect(url_for("security.login"), 303)
    here = request.full_path.rstrip("?")
    return redirect(url_for("security.login", next=None if here == "/" else here))


def init_app(app: Flask) -> None:
    """Guard every endpoint."""
    app.before_request(_guard)
    app.jinja_env.globals.update(may=may)
