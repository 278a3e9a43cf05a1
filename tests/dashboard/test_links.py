"""Links in templates are what Flask would have built, without asking it each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

import flask
import pytest
from flask import Flask
from werkzeug.routing import BuildError, Rule

from dashboard import links

_ID: Final = UUID("01936f3e-0000-7000-8000-00000000000a")
#: What parts of addresses are in a link, by their converters.
_VALUES: Final[dict[str, Any]] = {"UUIDConverter": _ID, "IntegerConverter": 7}
_ODD: Final = ["a b", "Zürich", "50%", "a/b", "", "%(slug)s", "value-of-slug-", 7, None]


def _values(rule: Rule) -> dict[str, Any]:
    values = {}
    for name, converter in rule._converters.items():
        usual = getattr(converter, "items", ["some.thing-1"])
        kind = type(converter).__name__
        values[name] = _VALUES.get(kind, min(usual))
    return values


def test_every_address_is_the_one_that_flask_builds(app: Flask) -> None:
    with app.test_request_context("/"):
        for rule in app.url_map.iter_rules():
            values = _values(rule)
            for more in ({}, {"within": "house"}, {"next": "/a?b=c"}):
                asked = values | more
                built = flask.url_for(rule.endpoint, **asked)
                for _ in range(2):
                    assert links.url_for(rule.endpoint, **asked) == built


@pytest.mark.parametrize("odd", _ODD, ids=repr)
def test_odd_values_are_quoted_as_flask_does(app: Flask, odd: object) -> None:
    with app.test_request_context("/"):
        for ids in ({"booking_id": odd}, {"booking_id": "b1", "q": odd}):
            asked = ("congregations.booking", {"slug": "house", **ids})
            assert _built(links.url_for, *asked) == _built(flask.url_for, *asked)


def _built(build: Callable[..., str], endpoint: str, values: Any) -> str:
    try:
        return build(endpoint, **values)
    except BuildError:
        return "no address"


def test_a_link_begins_where_the_console_is_mounted(app: Flask) -> None:
    for root in ("", "/bells", "/50%-of"):
        with app.test_request_context("/", environ_overrides={"SCRIPT_NAME": root}):
            ids = {"execution_id": _ID}
            built = flask.url_for("executions.detail", **ids)
            assert links.url_for("executions.detail", **ids) == built
            assert built.startswith(root[:4])


def test_what_depends_on_the_page_or_the_whole_address_is_left_to_flask(
    app: Flask,
) -> None:
    with app.test_request_context("/executions/"):
        for name, values in (
            (".index", {}),
            ("executions.index", {"_external": True}),
            ("executions.index", {"_anchor": "rows"}),
            ("static", {"filename": "icon.svg"}),
        ):
            assert links.url_for(name, **values) == flask.url_for(name, **values)
