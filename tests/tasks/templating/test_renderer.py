"""Rendering in a process of its own: limits that hold, and a batch that goes on."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tasks.saying import language
from tasks.templating.child import MEMORY_MAX
from tasks.templating.process import Process
from tasks.templating.renderer import (
    RENDERER,
    Refusal,
    Renderer,
    RenderingBroken,
    Request,
)

Make = Callable[[str], Renderer]
PLAIN = Request((("text", "Dear {{ name }}"),), {"name": "Zoë"})

#: A child as ours is, but for how it answers: its own process, its own limits.
CHILD = """
import json, os, signal, sys, time
from tasks.templating.answers import Answers
from tasks.templating.child import serve

answers = Answers()

def answer(line):
    if b"HOSTILE" in line:
        hostile()
    return answers(line)

def hostile():
    {hostile}

serve(answer, seconds=0.3)
"""
BURNS_TIME = "while True: pass"
BURNS_MEMORY = "[bytearray(200_000_000) for _ in range(100)]"
ENDS = "os._exit(0)"
BABBLES = "os.write(1, b'what?\\n'); os._exit(0)"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Return a maker of renderers whose child does something on the word HOSTILE."""
    made: list[Renderer] = []

    def renderer(hostile: str) -> Renderer:
        source = dedent(CHILD).replace("{hostile}", hostile)
        command = (sys.executable, "-P", "-c", source)
        made.append(Renderer(lambda: Process(command)))
        return made[-1]

    yield renderer
    for each in made:
        each.close()


def hostile(n: int = 0) -> Request:
    return Request((("text", f"HOSTILE {n}"),), {})


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_many_messages_are_rendered_in_the_order_asked() -> None:
    requests = [
        Request((("text", "{{ n }}"), ("html", "<b>{{ s }}</b>")), {"n": n, "s": "<"})
        for n in range(500)
    ]
    assert RENDERER.render_all(requests) == [
        [str(n), "<b>&lt;</b>"] for n in range(500)
    ]


def test_nothing_asked_is_nothing_answered() -> None:
    assert RENDERER.render_all([]) == []


def test_values_larger_than_a_pipe_come_back_whole() -> None:
    big = "x" * 200_000
    requests = [Request((("text", "{{ s }}"),), {"s": big})] * 8
    assert RENDERER.render_all(requests) == [[big]] * 8


def test_values_that_are_too_much_are_refused_alone() -> None:
    circle: dict[str, Any] = {}
    circle["s"] = circle
    requests = [
        PLAIN,
        Request((("text", "x"),), circle),
        Request((("text", "x"),), {"s": "x" * 2_000_001}),
        PLAIN,
    ]
    answers = RENDERER.render_all(requests)

    assert answers[0] == answers[3] == ["Dear Zoë"]
    assert [type(each) for each in answers[1:3]] == [Refusal, Refusal]


@pytest.mark.parametrize("what", [BURNS_TIME, BURNS_MEMORY, ENDS])
def test_a_message_that_kills_the_child_fails_alone(make: Make, what: str) -> None:
    renderer = make(what)
    before = [PLAIN] * 3
    answers = renderer.render_all([*before, hostile(), *before])

    assert answers[:3] == answers[4:] == [["Dear Zoë"]] * 3
    assert answers[3] == Refusal(
        "costly", "The template is too much: rendering it was stopped."
    )


def test_what_is_wrong_is_said_in_the_language_of_who_asks() -> None:
    missing = Request((("text", "{{ x }}"),), {})
    token = language.set("fr")
    try:
        checked = RENDERER.check("{{ guest.nam }}", ["guest.name"])
        rendered = RENDERER.render_all([missing])
    finally:
        language.reset(token)

    assert checked is not None
    assert "vouliez-vous dire guest.name" in checked
    assert rendered == [Refusal("missing", "Le message a besoin de x, qui manque.")]
    assert RENDERER.render_all([missing]) == [
        Refusal("missing", "The message needs x, which is missing.")
    ]


def test_the_memory_of_a_rendering_has_an_end(make: Make) -> None:
    # Reserved, not written to: filling so much takes more than the time of a request.
    renderer = make("global kept; import mmap; kept = mmap.mmap(-1, 400_000_000)")
    assert renderer.render_all([hostile()]) == [["HOSTILE 0"]]

    renderer = make(f"global kept; import mmap; kept = mmap.mmap(-1, {MEMORY_MAX})")
    assert isinstance(renderer.render_all([hostile()])[0], Refusal)


def test_the_processor_time_of_a_rendering_has_an_end(make: Make) -> None:
    renderer = make("while True: pass")
    renderer.render_all([PLAIN])
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime

    renderer.render_all([hostile()])

    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert spent < 6.0  # it is tried twice, and each child starts anew


def test_a_child_that_only_sleeps_is_given_up() -> None:
    source = "import sys, time\nfor line in sys.stdin: time.sleep(60)"
    process = Process((sys.executable, "-c", source))

    assert process.converse(b"[]\n", 1, patience=0.2) == []

    process.end(at_once=True)
    assert not is_running(process.pid)


def test_one_template_cannot_kill_many_children(make: Make) -> None:
    renderer = make(ENDS)
    began = time.monotonic()
    answers = renderer.render_all([hostile()] * 200 + [PLAIN])

    assert answers[-1] == ["Dear Zoë"]
    assert all(isinstance(each, Refusal) for each in answers[:200])
    assert time.monotonic() - began < 30.0  # two hundred starts would take longer


def test_what_is_no_answer_ends_the_child(make: Make) -> None:
    answers = make(BABBLES).render_all([PLAIN, hostile(), PLAIN])

    assert answers[0] == answers[2] == ["Dear Zoë"]
    assert isinstance(answers[1], Refusal)


def test_the_child_can_write_no_file(make: Make, tmp_path: Path) -> None:
    target = tmp_path / "x"
    renderer = make(f"open({str(target)!r}, 'w').write('x' * 10)")

    renderer.render_all([hostile()])

    assert not target.exists() or target.stat().st_size == 0


def test_a_child_killed_from_outside_is_replaced_unnoticed(make: Make) -> None:
    renderer = make(ENDS)
    renderer.render_all([PLAIN])
    first = renderer.pid
    assert first is not None
    os.kill(first, 9)

    assert renderer.render_all([PLAIN] * 3) == [["Dear Zoë"]] * 3
    assert renderer.pid != first
    assert not is_running(first)


def test_closing_ends_the_child_and_leaves_no_zombie(make: Make) -> None:
    renderer = make(ENDS)
    renderer.render_all([PLAIN])
    pid = renderer.pid
    assert pid is not None

    renderer.close()
    renderer.close()

    assert not is_running(pid)
    assert renderer.render_all([PLAIN]) == [["Dear Zoë"]]


def test_the_child_outlives_what_a_terminal_sends_to_all(make: Make) -> None:
    renderer = make(ENDS)
    renderer.render_all([PLAIN])
    pid = renderer.pid
    assert pid is not None
    for signal in (2, 15):
        os.kill(pid, signal)

    assert renderer.render_all([PLAIN]) == [["Dear Zoë"]]
    assert renderer.pid == pid


def test_the_child_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "canary-of-the-environment")
    renderer = Renderer()
    renderer.render_all([PLAIN])
    told = Path(f"/proc/{renderer.pid}/environ").read_bytes()
    limits = Path(f"/proc/{renderer.pid}/limits").read_text()
    renderer.close()

    assert b"canary" not in told
    assert str(MEMORY_MAX) in limits


def test_the_child_loads_neither_database_nor_web() -> None:
    source = (
        "import sys, tasks.templating.child\n"
        "print([m for m in ('sqlalchemy', 'flask', 'huey') if m in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert out.stdout == "[]\n"


def test_when_no_child_can_live_no_message_is_blamed(make: Make) -> None:
    broken = Renderer(lambda: Process((sys.executable, "-c", "pass")))
    with pytest.raises(RenderingBroken):
        broken.render_all([PLAIN])
    with pytest.raises(RenderingBroken):
        broken.check("{{ x }}", ["x"])

    absent = Renderer(lambda: Process(("/nowhere/python",)))
    with pytest.raises(RenderingBroken):
        absent.render_all([PLAIN])


def test_many_threads_share_one_child(make: Make) -> None:
    renderer = make(ENDS)
    answers: list[object] = []

    def work(n: int) -> None:
        request = Request((("text", f"{{{{ n }}}} of {n}"),), {"n": n})
        answers.append(renderer.render_all([request] * 20) == [[f"{n} of {n}"]] * 20)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [True] * 8


FORKING = """
import os
from tasks.templating.renderer import Request, Renderer

plain = Request((("text", "Dear {{ name }}"),), {"name": "Zoe"})
renderer = Renderer()
assert renderer.render_all([plain]) == [["Dear Zoe"]]
parents = renderer.pid
forked = os.fork()
if forked == 0:
    assert renderer.pid is None
    assert renderer.render_all([plain]) == [["Dear Zoe"]]
    assert renderer.pid != parents
    renderer.close()
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 7
assert renderer.render_all([plain]) == [["Dear Zoe"]]
assert renderer.pid == parents
renderer.close()
"""


def test_a_forked_process_has_a_child_of_its_own() -> None:
    subprocess.run([sys.executable, "-c", FORKING], check=True)


def test_a_child_that_knows_too_many_templates_is_replaced(make: Make) -> None:
    renderer = make(ENDS)
    renderer.render_all([PLAIN])
    first = renderer.pid
    for n in range(5):
        requests = [
            Request((("text", f"{n} {k} " + "x" * 18_000),), {}) for k in range(50)
        ]
        assert all(isinstance(each, list) for each in renderer.render_all(requests))

    assert renderer.render_all([PLAIN]) == [["Dear Zoë"]]
    assert renderer.pid != first
