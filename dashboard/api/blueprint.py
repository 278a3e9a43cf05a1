"""The blueprint that every module of the API hangs its views on."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from flask import Response, current_app, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel

from dashboard.api.errors import HANDLERS
from dashboard.api.models.answers import ErrorAnswer
from dashboard.extensions import limiter

EVENTS: Final = Tag(name="Events", description="Tell what happened.")
RECORDS: Final = Tag(
    name="Records",
    description="Create and change what events are about. A field that is absent stays "
    "as it is; null clears it.",
)
VERBS: Final = Tag(
    name="Lifecycle",
    description="Change, event and planning in one transaction; calling twice is safe.",
)
OUTREACH: Final = Tag(
    name="Outreach",
    description="Contacts, and when agents want to look at them again. GET tells a "
    "version as ETag; sent back as If-Match, a change made from an older one is "
    "refused with 412.",
)
WEBHOOKS: Final = Tag(
    name="Webhooks", description="Who hears of what happens, and how it arrives."
)
LOOKING: Final = Tag(name="Looking", description="See what became of it.")

_REFUSALS: Final = (400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503)

#: What flask-openapi3 wants to know of a view's answers.
Responses = dict[str | int | HTTPStatus, type[BaseModel] | dict[Any, Any] | None]


def answers(model: type[BaseModel], *statuses: int) -> Responses:
    """Describe a view's answer; without ``statuses`` it is 200."""
    return dict.fromkeys(map(str, statuses or (200,)), model)


api = APIBlueprint(
    "api",
    __name__,
    url_prefix="/api/v1",
    abp_security=[{"token": []}],
    abp_responses=answers(ErrorAnswer, *_REFUSALS),
)
# The API has a pace of its own, see access.py.
limiter.exempt(api)
for _kind, _handler in HANDLERS.items():
    api.register_error_handler(_kind, _handler)


@api.after_request
def _tell_methods_alone(answer: Response) -> Response:
    """Leave nothing of the framework's empty page in an answer to OPTIONS."""
    if request.method == "OPTIONS" and not answer.data:
        answer.status_code = HTTPStatus.NO_CONTENT
        answer.headers.remove("Content-Type")
    return answer


@api.get("/openapi.json", doc_ui=False)
def openapi() -> dict[str, Any]:
    """Return the description of this API for programs; needs no token."""
    document: dict[str, Any] = dict(current_app.api_doc)  # type: ignore[attr-defined]  # flask-openapi3 sets it
    components = dict(document.get("components", {}))
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "bearerFormat": "crl_…"}
    }
    return {
        **document,
        "info": {
            "title": "Carillon",
            "version": "1",
            "description": "The HTTP API for producers.",
        },
        "servers": [{"url": current_app.config["CARILLON"].base_url}],
        "components": components,
    }
