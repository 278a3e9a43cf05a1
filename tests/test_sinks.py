from __future__ import annotations

import json
import smtplib
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.support.hook_sink import HookSink, Reply
from tests.support.smtp_sink import SmtpSink

LETTER = "Subject: hello\n\nbody"


def send(port: int) -> None:
    with smtplib.SMTP("127.0.0.1", port, timeout=1) as client:
        client.sendmail("a@x.test", ["b@x.test"], LETTER)


def test_the_mail_sink_keeps_its_port_when_it_starts_again(smtp_sink: SmtpSink) -> None:
    send(smtp_sink.port)
    port = smtp_sink.port
    smtp_sink.stop()
    with pytest.raises(OSError, match="refused"):
        send(port)
    smtp_sink.start()
    send(port)

    assert [mail.subject for mail in smtp_sink.wait_for(2)] == ["hello", "hello"]


def test_a_fault_strikes_as_often_as_told(smtp_sink: SmtpSink) -> None:
    smtp_sink.refuse("rcpt", "451 Later", times=1)

    with pytest.raises(smtplib.SMTPRecipientsRefused):
        send(smtp_sink.port)
    send(smtp_sink.port)


def test_the_hook_sink_answers_in_turn_and_then_repeats(hook_sink: HookSink) -> None:
    hook_sink.answer("/hook", Reply(202), Reply(201))

    statuses = [urllib.request.urlopen(hook_sink.url(), b"{}").status for _ in range(3)]

    assert statuses == [202, 201, 201]
    assert [hook.json for hook in hook_sink.wait_for(3)] == [{}, {}, {}]


def test_as_a_process_the_sinks_log_what_they_get(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    command = [sys.executable, "-m", "tests.support.sinks", "--log", str(log)]
    root = Path(__file__).parents[1]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as process:
        assert process.stdout is not None
        ports = json.loads(process.stdout.readline())
        send(ports["smtp_port"])
        url = f"http://127.0.0.1:{ports['hook_port']}/hook"
        urllib.request.urlopen(url, b"{}").close()
        process.terminate()

    assert process.returncode == 0
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [entry["kind"] for entry in entries] == ["mail", "hook"]
    assert entries[0]["to"] == ["b@x.test"]
