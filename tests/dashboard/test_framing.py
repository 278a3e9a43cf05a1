"""What is no proper HTTP: refused by the server itself, as the API refuses."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import closing

import pytest
from flask import Flask
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import TConn

from dashboard.cli.refusing import Worker
from dashboard.cli.web import Server
from dashboard.extensions import db
from tasks.db import sessions
from tests.dashboard.api.world import new_producer, settle

Send = Callable[[str], tuple[int, str, str]]
HEAD = "POST /api/v1/events HTTP/1.1\r\nHost: localhost\r\n"
JSON = "Content-Type: application/json\r\n"
FORM = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n"
CHUNKED = JSON + "Transfer-Encoding: chunked\r\n"


@pytest.fixture
def server(app: Flask) -> Server:
    """Return the web server's settings and application."""

    class _Server(Server):
        def load(self) -> Flask:
            return app

    return _Server(app.config["CARILLON"])


@pytest.fixture
def bearer(app: Flask) -> str:
    """Return the header of a producer's token."""
    with app.app_context():
        make_db = sessions(db.engine)
    with make_db.begin() as session:
        of = settle(session, "mary")
    return f"Authorization: Bearer {new_producer(app, make_db, of).token}\r\n"


@pytest.fixture
def send(server: Server) -> Send:
    """Return a function that sends bytes and returns status, kind and body."""

    def talk(request: str) -> tuple[int, str, str]:
        ours, theirs = socket.socketpair()
        worker = Worker(1, 1, [], server, 5, server.cfg, Logger(server.cfg))
        worker.wsgi = server.wsgi()
        with ours, theirs, closing(worker.tmp):
            ours.sendall(request.encode())
            ours.shutdown(socket.SHUT_WR)
            here = ("127.0.0.1", 1)
            worker.handle(TConn(server.cfg, theirs, here, here))
            theirs.close()
            ours.settimeout(5)
            answer = b"".join(iter(lambda: ours.recv(65_536), b"")).decode()
        head, _, body = answer.partition("\r\n\r\n")
        kind = next(x for x in head.split("\r\n") if x.startswith("Content-Type: "))
        assert answer.count("HTTP/1.1 ") == 1
        return int(head.split()[1]), kind.removeprefix("Content-Type: "), body

    return talk


@pytest.mark.parametrize(
    ("request_text", "status", "code"),
    [
        ("\x16\x03\x01\r\n\r\n", 400, "bad_request"),
        ("GET /api/v1/events HTTP/3.7\r\n\r\n", 400, "bad_request"),
        (HEAD + "Bad Header\r\n\r\n", 400, "bad_request"),
        (HEAD + "Content-Length: abc\r\n\r\n{}", 400, "bad_request"),
        (HEAD + "Content-Length: -1\r\n\r\n{}", 400, "bad_request"),
        (HEAD + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, "bad_request"),
        (HEAD + CHUNKED + "Content-Length: 2\r\n\r\n0\r\n\r\n", 400, "bad_request"),
        (HEAD + "X-Long: " + "a" * 20_000 + "\r\n\r\n", 431, "headers_too_large"),
        ("GET /api/" + "a" * 5_000 + " HTTP/1.1\r\n\r\n", 414, "address_too_long"),
        (HEAD + "Expect: the unexpected\r\n\r\n", 417, "expectation_failed"),
    ],
)
def test_what_is_no_proper_http_is_refused_in_json(
    send: Send, request_text: str, status: int, code: str
) -> None:
    found, kind, body = send(request_text)

    assert (found, kind) == (status, "application/json")
    error = json.loads(body)["error"]
    assert error["code"] == code
    assert error["message"].endswith(".")


@pytest.mark.parametrize("body", ["zz\r\n{}\r\n0\r\n\r\n", "2\r\n{}XX", "5\r\n{}"])
def test_a_body_that_is_no_http_is_refused_by_the_api(
    send: Send, bearer: str, body: str
) -> None:
    found, kind, said = send(HEAD + bearer + CHUNKED + "\r\n" + body)

    assert (found, kind) == (400, "application/json")
    assert json.loads(said)["error"]["code"] == "bad_request"


def test_a_form_that_is_no_http_is_refused_by_a_page(send: Send) -> None:
    form = "Content-Type: application/x-www-form-urlencoded\r\n"
    found, kind, said = send(
        "POST /login HTTP/1.1\r\nHost: localhost\r\n"
        f"{form}Transfer-Encoding: chunked\r\n\r\nzz\r\na=b"
    )

    assert (found, kind) == (400, "text/html; charset=utf-8")
    assert "could not be understood" in said


def test_what_is_proper_is_answered(send: Send, bearer: str) -> None:
    request = HEAD + bearer + CHUNKED + "\r\n2\r\n{}\r\n0\r\n\r\n"

    assert send(request)[0] == 422


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        ("GET /api/v1/ev", ""),
        (HEAD + "X-Slow", ""),
        ("POST /login HTTP/1.1\r\nHost: localhost\r\n" + FORM + "\r\na", "400 BAD REQ"),
    ],
)
def test_who_falls_silent_in_a_request_keeps_no_thread(
    server: Server, request_text: str, answer: str
) -> None:
    ours, theirs = socket.socketpair()
    worker = Worker(1, 1, [], server, 5, server.cfg, Logger(server.cfg))
    worker.wsgi = server.wsgi()
    worker.patience = 0.1
    with ours, theirs, closing(worker.tmp):
        ours.sendall(request_text.encode())
        here = ("127.0.0.1", 1)
        assert not worker.handle(TConn(server.cfg, theirs, here, here))
        theirs.close()
        ours.settimeout(5)
        assert answer in ours.recv(1_000).decode()


def test_who_has_gone_is_not_answered(server: Server) -> None:
    ours, theirs = socket.socketpair()
    worker = Worker(1, 1, [], server, 5, server.cfg, Logger(server.cfg))
    with ours, theirs, closing(worker.tmp):
        ours.sendall(b"no http at all\r\n\r\n")
        ours.close()
        here = ("127.0.0.1", 1)
        assert worker.handle(TConn(server.cfg, theirs, here, here)) is False
