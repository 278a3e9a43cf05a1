"""The code that an endpoint's page shows, run on calls that were really sent."""

from __future__ import annotations

import base64
import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from tasks.clock import utcnow
from tasks.db import sessions
from tasks.webhooks.rotating import rotate_secret
from tests.dashboard.conftest import Browser
from tests.support.hook_sink import Hook, HookSink
from tests.tasks.automation.conftest import make_world
from tests.tasks.webhooks.conftest import ACTOR, BOX, Desk

#: What a snippet is: called with body and headers, it returns what is told or None.
Receive = Callable[[bytes, Mapping[str, str]], Any]
_NODE = shutil.which("node")
#: Calls a snippet with what comes in, and prints what it returns.
_CALLER = """
import { receive } from "./receive.mjs";
import { readFileSync } from "node:fs";
const { body, headers } = JSON.parse(readFileSync(0));
console.log(JSON.stringify(receive(Buffer.from(body, "base64"), headers)));
"""


@pytest.fixture
def desk(sqlite_engine: Engine, hook_sink: HookSink) -> Desk:
    """Return a desk on the console's database, at the real time."""
    world = make_world(sessions(sqlite_engine), "bonifatius")
    world.booking()
    return Desk(world, hook_sink, now=utcnow())


@pytest.fixture
def code(desk: Desk, as_viewer: Browser) -> dict[str, str]:
    """Return the page's snippets by name."""
    endpoint = desk.endpoint()
    page = as_viewer.get(f"/webhooks/{endpoint.id}").get_data(as_text=True)
    found = re.findall(r'<code id="(\w+)">(.*?)</code>', page, re.DOTALL)
    return {name: html.unescape(text) for name, text in found}


def _call(desk: Desk) -> Hook:
    desk.happen()
    desk.work()
    return desk.sink.requests[-1]


def _python(text: str) -> Receive:
    names: dict[str, Any] = {}
    exec(compile(text, "snippet", "exec"), names)  # noqa: S102  # that is the test
    receive: Receive = names["receive"]
    return receive


def _node(text: str, folder: Path) -> Receive:
    assert _NODE
    (folder / "receive.mjs").write_text(text)
    (folder / "call.mjs").write_text(_CALLER)

    def receive(body: bytes, headers: Mapping[str, str]) -> Any:
        given = {"body": base64.b64encode(body).decode(), "headers": dict(headers)}
        done = subprocess.run(
            [_NODE or "", "call.mjs"],
            input=json.dumps(given),
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return json.loads(done.stdout)

    return receive


def _check(receive: Receive, hook: Hook) -> None:
    told = receive(hook.body, hook.headers)
    assert told == hook.json
    assert told["type"] == "booking.confirmed"
    old = {**hook.headers, "webhook-timestamp": "1700000000"}
    for body, headers in (
        (hook.body + b" ", hook.headers),
        (hook.body, old),
        (hook.body, {**hook.headers, "webhook-id": "other"}),
        (hook.body, {**hook.headers, "webhook-signature": "v1,x v2,y z"}),
        (hook.body, {}),
    ):
        assert receive(body, headers) is None


@pytest.mark.parametrize("name", ["python_package", "python_alone"])
def test_the_python_code_verifies_what_was_really_sent(
    name: str, code: dict[str, str], desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", desk.secret)
    _check(_python(code[name]), _call(desk))


def test_while_a_secret_is_replaced_either_of_both_verifies(
    code: dict[str, str], desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    _call(desk)
    endpoint_id = desk.only().endpoint_id
    with desk.begin() as session:
        new = rotate_secret(session, endpoint_id, ACTOR, box=BOX, now=desk.now)[1]
    desk.happen(event="booking.declined")
    desk.work()
    hook = desk.sink.requests[-1]
    for name in ("python_package", "python_alone"):
        for secret in (desk.secret, new):
            monkeypatch.setenv("WEBHOOK_SECRET", secret)
            assert _python(code[name])(hook.body, hook.headers) == hook.json


def test_the_node_code_verifies_what_was_really_sent(
    code: dict[str, str], desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hook = _call(desk)
    if _NODE is None:  # then at least what it must name, as the call has it
        assert set(re.findall(r'"(webhook-\w+)"', code["node_alone"])) == {
            name for name in hook.headers if name.startswith("webhook-")
        }
        return
    monkeypatch.setenv("WEBHOOK_SECRET", desk.secret)
    _check(_node(code["node_alone"], tmp_path), hook)
    package = tmp_path / "package.mjs"
    package.write_text(code["node_package"])
    subprocess.run([_NODE, "--check", package], check=True, timeout=60)
