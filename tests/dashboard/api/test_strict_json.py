"""JSON that two readers could understand differently is refused."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest

from dashboard.api.strict_json import DEPTH_MAX, KEYS_MAX, JsonRefused, loads


def _refused(body: bytes) -> JsonRefused:
    with pytest.raises(JsonRefused) as refused:
        loads(body)
    return refused.value


def test_good_json_is_read() -> None:
    value = {"a": [1, -2.5, None, True, "ü 🔔"], "b": {"c": '\\ " } ]'}}
    assert loads(json.dumps(value).encode()) == value
    assert loads(b"\xef\xbb\xbf" + json.dumps(value, ensure_ascii=False).encode()) == (
        value
    )


@pytest.mark.parametrize(
    ("body", "line", "column"),
    [
        (b"", 1, 1),
        (b"  \n ", 1, 1),
        (b"{", 1, 2),
        (b'{"a": 1,\n "b" 2}', 2, 6),
        (b"{'a': 1}", 1, 2),
        (b'{"a": 1} x', 1, 10),
        (b'{"a": "\x01"}', 1, 8),
        (b"nul", 1, 1),
        (b"]" * 5, 1, 1),
    ],
)
def test_malformed_json_is_refused_with_its_place(
    body: bytes, line: int, column: int
) -> None:
    error = _refused(body)
    assert (error.code, error.line, error.column) == ("json_invalid", line, column)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"a": "\xff"}', "json_encoding"),
        ('{"a": "ü"}'.encode("latin-1"), "json_encoding"),
        ('{"a": 1}'.encode("utf-16"), "json_encoding"),
        (b'{"a": 1, "a": 2}', "json_duplicate_key"),
        (b'{"a": {"b": 1, "b": 1}}', "json_duplicate_key"),
        (b'{"a": NaN}', "json_number"),
        (b'{"a": -Infinity}', "json_number"),
        (b'{"a": 1e999}', "json_number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "json_number"),
        (b'{"a": "\\u0000"}', "json_text"),
        (b'{"\\u0000": 1}', "json_text"),
        (b'{"a": "\\ud800"}', "json_text"),
        (b"[" * (DEPTH_MAX + 1), "json_too_deep"),
        (b"[" * 100_000, "json_too_deep"),
        (b'{"a":' * (DEPTH_MAX + 1) + b"1" + b"}" * (DEPTH_MAX + 1), "json_too_deep"),
    ],
)
def test_dangerous_json_is_refused(body: bytes, code: str) -> None:
    assert _refused(body).code == code


def test_depth_counts_brackets_outside_of_texts_only() -> None:
    assert loads(json.dumps({"a": '[{"\\' * 50}).encode())
    nested: object = 1
    for _ in range(DEPTH_MAX):
        nested = [nested]
    assert loads(json.dumps(nested).encode()) == nested


@pytest.mark.parametrize("piece", [b'\\"', b'"', b"\\", b'"\\', b"[", b'{"a":"'])
def test_hostile_texts_take_no_time(piece: bytes) -> None:
    started = time.perf_counter()
    for start, end in ((b"", b""), (b'"', b""), (b'"', b"\\"), (b'["', b'"]')):
        body = start + piece * (262_144 // len(piece)) + end
        with suppress(JsonRefused):
            loads(body)
    assert time.perf_counter() - started < 2


def test_keys_are_counted_for_each_event_of_a_batch() -> None:
    many = {str(n): n for n in range(KEYS_MAX)}
    assert loads(json.dumps(many).encode()) == many
    assert loads(json.dumps([many, many]).encode())
    assert loads(json.dumps({"events": [many, many]}).encode())
    assert _refused(json.dumps(many | {"more": 1}).encode()).code == (
        "json_too_many_keys"
    )
    assert _refused(json.dumps([{"a": many}]).encode()).code == "json_too_many_keys"
