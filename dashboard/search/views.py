"""Searches: what a list's search takes, and how one that is typed may go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec

from flask import Blueprint, abort, request
from flask.blueprints import BlueprintSetupState
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.filter_fields import clean
from dashboard.search.chips import chips
from dashboard.search.completing import completions
from dashboard.search.kinds import SEARCHED
from dashboard.search.searched import Searched
from dashboard.security import may
from dashboard.web import is_htmx, render
from tasks.errors import InvalidInput
from tasks.search.conditions import SEARCH_WINDOW
from tasks.search.parsing import LENGTH_MAX, WRITTEN_MAX

bp = Blueprint("search", __name__, url_prefix="/search")
P = ParamSpec("P")


@bp.get("/<list_name>")
def fields(list_name: str) -> str:
    """Show the fields of a list's search."""
    of = _searched(list_name)
    if not set(of.place) <= set(request.args):
        abort(404)
    return _help(of, request.args)


@bp.get("/<list_name>/options")
def options(list_name: str) -> str:
    """Return how a search that is being typed may go on, for its datalist."""
    of = _searched(list_name)
    typed = clean(request.args.get(of.box))[:WRITTEN_MAX]
    # A blank at the end begins a new word, which cleaning takes away.
    if request.args.get(of.box, "").endswith(" "):
        typed += " "
    found = completions(db.session(), of.fields, typed)
    return render("search/_options.html", completions=found)


def explains(
    list_name: str,
) -> Callable[[Callable[P, str]], Callable[P, ResponseReturnValue]]:
    """Show, for a search that cannot be read, why and what can; put it below a route.

    What was typed stays in the box.
    """

    def wrap(view: Callable[P, str]) -> Callable[P, ResponseReturnValue]:
        @wraps(view)
        def shown(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
            try:
                return view(*args, **kwargs)
            except InvalidInput as refused:
                if refused.code != "bad_search" or is_htmx():
                    raise
                of = SEARCHED[list_name]
                typed = request.args.get(of.box, "")
                return _help(of, kwargs, typed, refused.message), 422

        return shown

    return wrap


def _help(
    of: Searched, values: Mapping[str, Any], typed: str = "", problem: str = ""
) -> str:
    return render(
        "search/fields.html",
        of=of,
        place={name: str(values[name]) for name in of.place},
        typed=typed[:WRITTEN_MAX],
        problem=problem,
        window=SEARCH_WINDOW,
    )


def _searched(list_name: str) -> Searched:
    if list_name not in SEARCHED:
        abort(404)
    of = SEARCHED[list_name]
    if not may(of.role):
        abort(403)
    return of


@bp.record
def _give_templates(state: BlueprintSetupState) -> None:
    state.app.jinja_env.globals.update(search_chips=chips, search_length_max=LENGTH_MAX)
