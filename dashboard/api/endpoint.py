"""What happens around every view of the API, in this order: token, input, one
transaction, the view, the kept answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from http import HTTPStatus
from typing import Any, Final, get_type_hints
from uuid import UUID

from flask import Response, jsonify, request
from pydantic import BaseModel
from sqlalchemy.orm import Session

from dashboard.api import idempotency
from dashboard.api.access import Caller, admitted
from dashboard.api.answer import Answer
from dashboard.api.body import parsed_object, read_bytes
from dashboard.api.errors import ApiError, Problem, invalid
from dashboard.api.models.records import NothingIn
from dashboard.api.validation import checked
from dashboard.extensions import db
from tasks.db import congregation_session, reading

View = Callable[..., Answer]
#: What a view takes from the request, in the order in which it is checked.
_PARTS: Final = ("path", "query", "body")


@dataclass(frozen=True, slots=True)
class Call:
    """One request: its transaction and who sent it."""

    session: Session  # sees the caller's congregation only
    caller: Caller

    @property
    def congregation_id(self) -> UUID:
        """Return the congregation that the token belongs to."""
        return self.caller.congregation_id


@dataclass(frozen=True, slots=True)
class Reader:
    """A way of its own to read a body, and the model that describes it to people."""

    read: Callable[[bytes], object]
    described_by: type[BaseModel]


def endpoint(
    scope: str, *, empty_body: bool = False, reader: Reader | None = None
) -> Callable[[View], Callable[..., Response]]:
    """Make a function an endpoint; put it below the route.

    The function is called with a ``Call`` and with those of ``path``, ``query`` and
    ``body`` that it annotates with a model.

    Args:
        scope: what the token must be allowed to do.
        empty_body: whether a request without a body counts as ``{}``.
        reader: makes ``body`` out of the request's bytes; None: the model does.
    """

    return partial(_around, scope=scope, empty_body=empty_body, reader=reader)


def _around(
    view: View, *, scope: str, empty_body: bool, reader: Reader | None
) -> Callable[..., Response]:
    models = _models(view)
    takes_nothing = empty_body and "body" not in models

    @wraps(view)
    def run(**in_path: str) -> Response:
        caller = admitted(scope)
        raw = b"" if _only_reads() else read_bytes()
        given = _given(models, in_path, raw, empty_body=empty_body)
        if takes_nothing:
            _given({"body": NothingIn}, {}, raw, empty_body=True)
        if reader is not None:
            given["body"] = reader.read(raw)
        return _response(_done(view, caller, given, raw))

    # flask-openapi3 describes the models, and leaves the checking to us.
    run.__delay_validate_request__ = True  # type: ignore[attr-defined]  # flask-openapi3 reads it
    run.__annotations__ = dict(models)
    if reader is not None:
        run.__annotations__["body"] = reader.described_by
    return run


def _only_reads() -> bool:
    return request.method in {"GET", "HEAD"}


def _models(view: View) -> dict[str, type[BaseModel]]:
    hints = get_type_hints(view)
    found = {part: hints[part] for part in _PARTS if part in hints}
    return {part: m for part, m in found.items() if issubclass(m, BaseModel)}


def _given(
    models: dict[str, type[BaseModel]],
    in_path: dict[str, str],
    raw: bytes,
    *,
    empty_body: bool,
) -> dict[str, object]:
    """Return the checked parts of the request, or refuse with every problem."""
    given: dict[str, object] = {}
    problems: list[Problem] = []
    for part, model in models.items():
        values: dict[str, Any] = dict(in_path)
        if part == "query":
            values = request.args.to_dict()
            problems += _said_twice()
        elif part == "body":
            values = parsed_object(raw, may_be_empty=empty_body)
        found, wrong = checked(model, values)
        if part == "path" and wrong and request.method != "PUT":
            raise ApiError(
                HTTPStatus.NOT_FOUND, "not_found", "No record can have this id."
            )
        problems += wrong
        if found is not None:
            given[part] = found
    if problems:
        raise invalid(problems)
    return given


def _said_twice() -> list[Problem]:
    """Return what the address says twice: one of both would count without a word."""
    return [
        {
            "field": name[:80],
            "code": "given_twice",
            "message": f"{name[:80]}: stands twice in the address; keep one.",
        }
        for name, values in request.args.lists()
        if len(values) > 1
    ]


def _done(view: View, caller: Caller, given: dict[str, object], raw: bytes) -> Answer:
    """Call the view in a transaction that is committed before the answer leaves."""
    key = None if _only_reads() else idempotency.requested_key()
    digest = idempotency.request_digest(raw) if key else ""
    congregation_id = caller.congregation_id
    with congregation_session(db.engine, congregation_id) as session:
        if _only_reads():
            reading(session)
        if key:
            kept = idempotency.kept_answer(session, congregation_id, key, digest)
            if kept is not None:
                return kept
        answer = view(Call(session, caller), **given)
        if key:
            idempotency.keep(session, congregation_id, key, digest, answer)
    return answer


def _response(answer: Answer) -> Response:
    response = jsonify(answer.body)
    response.status_code = answer.status
    response.headers.update(answer.headers)
    response.headers.setdefault("Cache-Control", "no-store")
    return response
