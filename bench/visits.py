"""Which addresses of the console are asked for: every page, and what it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from flask import Flask
from werkzeug.routing import BuildError, Rule

#: What pages of lists and charts are asked besides the plain one, by endpoint.
ASKED: Final[Mapping[str, Sequence[Mapping[str, str]]]] = {
    "executions.index": (
        *({"state": state} for state in ("failed", "pending", "succeeded", "skipped")),
        {"within": "{slug}"},
        {"within": "{slug}", "state": "failed"},
        {"within": "{slug}", "state": "succeeded"},
        {"rule": "{rule_id}"},
        {"rule": "{rare_rule_id}"},
        {"rule": "{rare_rule_id}", "state": "failed"},
        {"late": "1"},
        {"booking": "{booking_id}"},
        {"q": "guest7"},
        {"q": "nobody-is-called-so"},
        {"q": 'rule:"Rule 1"'},
        {"q": "rule:rule state:failed"},
        {"q": "state:failed error:mailbox"},
        {"q": "due:<-7d"},
        {"q": "made:>-2d state:succeeded"},
        {"q": "to:guest7@ action:email"},
        {"q": "congregation:{slug} guest:same"},
    ),
    "scheduled.index": (
        *({"state": state} for state in ("all", "cancelled", "dispatched")),
        {"within": "{slug}"},
        {"rule": "{rule_id}"},
        {"q": "due:<+2d"},
        {"q": "guest:nobody"},
        {"late": "1"},
    ),
    "events.index": (
        {"text": "type:booking.confirmed"},
        {"text": "booking:{booking_id}"},
        {"text": "source:nowhere"},
        {"text": "heard:<-40d"},
    ),
    "webhooks.deliveries": (
        {"q": "state:failed"},
        {"q": "state:delivered status:>=500"},
        {"q": "error:nothing-like-it"},
    ),
    "failures.index": ({"show": "acknowledged"}, {"show": "all"}),
    "agenda.index": ({"rule": "{rule_id}"}, {"week": "2026-W50"}),
    "audit.index": (
        {"actor": "anna"},
        {"action": "rule."},
        {"q": "nothing-like-it"},
    ),
    "lanes.detail": ({"period": "7d"}, {"period": "30d"}),
    "rules.detail": ({"period": "7d"}, {"period": "30d"}),
    "search.options": ({"q": "state:f"}, {"q": "rule:ru"}, {"q": "guest:gu"}),
    "notifications.index": ({"state": "failed"}, {"state": "sent"}),
    "outreach.index": ({"q": "person7"},),
    "why.index": ({"q": "guest"}, {"rule": "{rule_id}"}),
    "congregations.podcast": ({"when": "past"},),
}
#: Lists that are also asked for their page in the middle.
DEEP: Final = (
    *("executions.index", "scheduled.index", "events.index", "webhooks.deliveries"),
    *("audit.index", "operations.index", "failures.detail", "lanes.detail"),
)
#: What is no page: files, who is not logged in, what other programs ask for.
_NO_PAGES: Final = ("api.", "openapi.", "hooks.", "cron.", "unsubscribe.", "setup.")
_OF_NOBODY: Final = ("healthz", "security.login", "security.verify")
_ONE_OF: Final[Mapping[str, Sequence[str]]] = {
    "list_name": ("executions", "scheduled", "events", "deliveries"),
    "name": ("executions", "deliveries", "email"),
    "verb": ("wake", "stop", "pause", "resume"),
}


def visits(app: Flask, ids: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield endpoint and address of each page that is asked for.

    Args:
        ids: the values that addresses name, by the names of the routes' arguments.
    """
    for route in app.url_map.iter_rules():
        if not _is_page(route):
            continue
        for values in _values(route, ids):
            path = _path(app, route, values)
            yield route.endpoint, path
            for asked in ASKED.get(route.endpoint, ()):
                told = {key: text.format_map(ids) for key, text in asked.items()}
                yield route.endpoint, f"{path}?{urlencode(told)}"


def _is_page(route: Rule) -> bool:
    name = route.endpoint
    is_file = name == "static" or name.endswith(".static")
    return "GET" in (route.methods or ()) and not (
        is_file or name.startswith(_NO_PAGES) or name in _OF_NOBODY
    )


def _values(route: Rule, ids: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield what the route's arguments are given; nothing when one is unknown."""
    choices = route.arguments & _ONE_OF.keys()
    if not choices and route.arguments <= ids.keys():
        yield {name: ids[name] for name in route.arguments}
    for name in choices:
        values = _ONE_OF[name]
        # Only what waits for executions is asked about when its lane goes on.
        wanted = values[:1] if route.endpoint == "lanes.ask_resume" else values
        yield from ({name: value} for value in wanted)


def _path(app: Flask, route: Rule, values: dict[str, str]) -> str:
    try:
        return app.url_map.bind("localhost").build(route.endpoint, values, "GET")
    except BuildError as error:  # a route that nobody taught us
        raise RuntimeError(f"{route.endpoint} needs values") from error
