"""A producer as the tests see one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask import Flask
from werkzeug.test import TestResponse


@dataclass
class Api:
    """A producer: calls with one token, and says so to nobody."""

    app: Flask
    token: str
    congregation_id: UUID

    def call(
        self, method: str, path: str, *, headers: Any = None, **kwargs: Any
    ) -> TestResponse:
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        return self.app.test_client().open(
            f"/api/v1{path}", method=method, headers=sent, **kwargs
        )

    def get(self, path: str, **kwargs: Any) -> TestResponse:
        return self.call("GET", path, **kwargs)

    def put(self, path: str, json: Any, **kwargs: Any) -> TestResponse:
        return self.call("PUT", path, json=json, **kwargs)

    def post(self, path: str, json: Any = None, **kwargs: Any) -> TestResponse:
        extra = {} if json is None else {"json": json}
        return self.call("POST", path, **extra, **kwargs)


def error_of(answer: TestResponse, status: int) -> dict[str, Any]:
    """Return the error of an answer, having looked at its status."""
    assert answer.status_code == status, answer.text
    error: dict[str, Any] = answer.json["error"] if answer.json else {}
    assert error["code"]
    assert (
        error["message"].endswith((".", "?", "@", "…"))
        or " known are " in error["message"]
    )
    return error
