from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.automation.actions.base import CannotCompose
from tasks.automation.messages import render_html, render_subject, render_text
from tasks.models.reason import Reason

CONTEXT: dict[str, Any] = {
    "guest": {"name": "Zoë & <b>Max</b> 🎙", "nick": None, "title": "", "age": 0},
    "booking": {"is_first": False},
}


def reason_of(kind: str, source: str, context: dict[str, Any]) -> Reason | None:
    """Return why a template fails; ``None``: it gives text that can be sent."""
    render = render_html if kind == "html" else render_text
    try:
        render(source, context).encode()
    except CannotCompose as failed:
        return failed.reason
    return None


def test_a_value_stands_raw_in_text_and_escaped_in_html() -> None:
    assert render_text("{{ guest.name }}", CONTEXT) == "Zoë & <b>Max</b> 🎙"
    assert (
        render_html("<p>{{ guest.name }}</p>", CONTEXT)
        == "<p>Zoë &amp; &lt;b&gt;Max&lt;/b&gt; 🎙</p>"
    )


@pytest.mark.parametrize(
    "source",
    [
        "{{ guest.name }}",
        "{{ guest.name | append: '<i>' }}",
        "{{ guest.name | prepend: '<i>' }}",
        "{{ guest.name | replace: 'Max', '<i>' }}",
        "{{ guest.name | upcase | downcase }}",
        "{{ guest.name | split: ' ' | join: '<i>' }}",
        "{{ guest.name | newline_to_br }}",
        "{{ guest.name | strip_newlines }}",
        "{{ guest.name | escape }}",
        "{{ guest.name | escape_once }}",
        "{{ guest.name | url_encode | url_decode }}",
        "{{ guest.nick | default: guest.name }}",
        "{% assign x = guest.name %}{{ x }}",
        "{% capture x %}{{ guest.name }}{% endcapture %}{{ x }}",
        "{{ guest.name | truncate: 60, '<i>' }}",
        "{{ guest.name | slice: 0, 30 }}",
    ],
)
def test_no_filter_lets_a_guests_markup_into_html(source: str) -> None:
    assert "<b>" not in render_html(source, CONTEXT)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("Dear {{ guest.nick }}", "guest.nick"),
        ("{{ guest.nowhere }}", "guest.nowhere"),
        ("{{ nobody.name }}", "nobody.name"),
        ("{{ guest.title }}", "guest.title"),
        ("{{ guest.nick | upcase }}", "guest.nick"),
        ("{{ guest.nick | append: '!' }}", "guest.nick"),
        ("{{ guest.nick | date: '%d' }}", "guest.nick"),
        ("{{ guest.name | append: guest.nick }}", "guest.nick"),
        ("{% assign x = guest.nick %}{{ x }}", "guest.nick"),
        ("{{ guest.nick | default: guest.other }}", "guest.other"),
    ],
)
def test_a_missing_value_stops_the_message(source: str, name: str) -> None:
    with pytest.raises(CannotCompose) as failed:
        render_text(source, CONTEXT)

    assert failed.value.reason is Reason.MISSING_VARIABLE
    assert failed.value.sentence == f"The message needs {name}, which is missing."


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Dear {{ guest.nick | default: 'there' }}", "Dear there"),
        ("{{ guest.title | default: '' }}", ""),
        ("{{ guest.nick | upcase | default: 'x' }}", "x"),
        ("{% if guest.nick %}{{ guest.nick }}{% else %}-{% endif %}", "-"),
        ("{{ guest.age }}", "0"),
        ("{{ booking.is_first }}", "false"),
        ("{% for x in guest.nick %}{{ x }}{% endfor %}", ""),
    ],
)
def test_a_missing_value_with_a_way_out_does_not(source: str, text: str) -> None:
    assert render_text(source, CONTEXT) == text


def test_a_group_is_not_written_as_code() -> None:
    with pytest.raises(CannotCompose, match="group of values"):
        render_text("{{ guest }}", CONTEXT)


@pytest.mark.parametrize(
    "source",
    ["{{ guest.name.__class__ }}", "{{ guest.__init__ }}", "{{ guest.items }}"],
)
def test_nothing_of_python_can_be_reached(source: str) -> None:
    with pytest.raises(CannotCompose) as failed:
        render_text(source, {"guest": {"name": "Zoë", "self": object()}})

    assert failed.value.reason is Reason.MISSING_VARIABLE


class TestSubject:
    @pytest.mark.parametrize(
        "value",
        [
            "Hi\r\nBcc: evil@x.y",
            "Hi\nthere",
            "a\u2028b",
            "a\u2029b",
            "a\x85b",
            "a\x0bb",
            "a\x00b",
            "=?utf-8?q?Hi=0d=0aReply-To:_evil@x.y?=",
            "x" * 256,
            "",
            "   ",
        ],
    )
    def test_a_value_cannot_break_out_of_the_line(self, value: str) -> None:
        with pytest.raises(CannotCompose) as failed:
            render_subject("{{ s | default: '' }}", {"s": value})

        assert failed.value.reason is Reason.BAD_MESSAGE

    def test_a_clean_line_stays_as_it_is(self) -> None:
        context = {"s": "Grüße 🎙 – a=b?"}
        assert render_subject(" {{ s }}\n", context) == "Grüße 🎙 – a=b?"


@pytest.mark.parametrize(
    "context",
    [
        {"s": "x" * 300_000},
        {"s": "\ud800 lone"},
        {"s": {"deep": 1}},
        {"s": 1e400},
    ],
)
def test_odd_values_fail_with_a_reason_or_are_written(context: dict[str, Any]) -> None:
    assert reason_of("text", "{{ s | append: '' }}", context) in (
        None,
        Reason.BAD_MESSAGE,
    )


def test_a_context_without_a_bottom_is_refused() -> None:
    deep: dict[str, Any] = {}
    deep["s"] = deep

    with pytest.raises(CannotCompose, match="nested too deeply"):
        render_text("{{ s.s }}", deep)


def test_the_stopwatch_ends_what_no_counter_catches() -> None:
    line = "{% assign x = s | upcase | downcase %}" * 90
    source = "{% for i in (1..9999) %}" + line + "{% endfor %}"
    began = time.thread_time()

    with pytest.raises(CannotCompose, match="takes too long"):
        render_text(source, {"s": "x" * 50_000})

    assert time.thread_time() - began < 4.0


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "size", "first"]), inner, max_size=3)
    ),
    max_leaves=6,
)
_FILTERS = st.sampled_from(
    [
        *("append: '<'", "append: b", "capitalize", "date", "default: 'x'", "escape"),
        *("first", "join: ','", "last", "local_time", "map: 'name'", "minus: 2"),
        *("modulo: 0", "newline_to_br", "plus: b", "replace: '', 'ab'", "reverse"),
        *("round: 2", "size", "slice: -3, 9", "sort", "split: ''", "times: b"),
        *("truncate: 3", "truncatewords: b", "upcase", "where: 'name'", "compact"),
        *("divided_by: b", "ceil", "floor", "abs", "at_least: b", "url_decode"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    a=_VALUES,
    b=_VALUES,
    chain=st.lists(_FILTERS, max_size=4),
)
def test_any_filters_on_any_values_write_text_or_give_a_reason(
    a: object, b: object, chain: list[str]
) -> None:
    source = "{{ " + " | ".join(["a", *chain]) + " }}"
    for kind in ("text", "html"):
        reason = reason_of(kind, source, {"a": a, "b": b})
        assert reason in (None, Reason.MISSING_VARIABLE, Reason.BAD_MESSAGE)
