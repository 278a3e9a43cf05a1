from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.automation.actions.base import CannotCompose
from tasks.automation.messages import render_all
from tasks.models.reason import Reason
from tasks.templating.renderer import Request
from tests.support.rendering import render_html, render_subject, render_text

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

    with pytest.raises(CannotCompose, match="takes too long"):
        render_text(source, {"s": "x" * 50_000})


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


#: What people try: to run code, to read files, to take all memory or time.
HOSTILE = [
    "{{ 7*7 }}",
    "${7*7}",
    "<%= 7*7 %>",
    "#{7*7}",
    "{{ ''.__class__ }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ guest.__init__.__globals__ }}",
    "{{ guest.name.__class__ }}",
    "{{ config }}",
    "{{ self }}",
    "{{ lipsum.__globals__ }}",
    "{{ request.application }}",
    "{% include '/etc/passwd' %}",
    "{% include '../../../../etc/passwd' %}",
    "{% render '/etc/passwd' %}",
    "{% import os %}",
    "{% liquid\necho guest.name %}",
    "{% for i in (1..100000000) %}{% endfor %}",
    "{% for i in (1..9000) %}{% for j in (1..9000) %}x{% endfor %}{% endfor %}",
    "{% for i in (1..9999) %}{% endfor %}" * 3,
    "{{ (1..100000000) | join: '' | size }}",
    "{{ (1..100000000) | size }}",
    "{{ (1..100000000) | reverse | first }}",
    "{% assign s = 'xxxxxxxxxx' %}" + "{% assign s = s | append: s %}" * 40,
    "{% assign s = 'aaaa' %}" + "{% assign s = s | replace: 'a', 'aaaaaaaa' %}" * 20,
    "{% assign n = 99 %}" + "{% assign n = n | times: n %}" * 40,
    "{% assign a = 'x,' %}" + "{% assign a = a | append: a | split: '' | join %}" * 90,
    "{{ '" + "9" * 4_000 + "' | times: '" + "9" * 4_000 + "' }}",
    "{{ 1 | divided_by: 0 }}",
    "{{ 5 | round: -1000000000 }}",
    "{{ 'x' | date: '%999999999d' }}",
    "{% case guest.name %}",
    "{% case guest.name %}" * 400,
    "{% if true %}" * 200 + "{% endif %}" * 200,
    "{{ a" + "[a" * 6_000 + "]" * 6_000 + " }}",
    "{{ guest.name }}" * 501,
    "{{s}}" * 200_000,
    "x" * 2_000_000,
    "{{ guest.name",
    "{% if guest.name %}",
    "{% nosuch %}",
    "{{ guest.name | nosuch }}",
    "{{ guest.name | safe }}",
    "lone surrogate \ud800",
]


def test_of_many_hostile_templates_each_is_refused_or_harmless() -> None:
    """All in one batch, between good ones: the batch goes on, in the same process."""
    good = Request((("text", "Dear {{ guest.name }}"),), {"guest": {"name": "Zoë"}})
    context = {"guest": {"name": "Zoë"}}
    began = time.monotonic()
    requests = [good]
    for source in HOSTILE:
        requests += [Request((("html", source),), context), good]
    answers = render_all(requests)

    assert answers[::2] == [["Dear Zoë"]] * (len(HOSTILE) + 1)
    for source, answer in zip(HOSTILE, answers[1::2], strict=True):
        if isinstance(answer, CannotCompose):
            assert answer.sentence[-1] in ".?…", source[:40]
        else:
            assert "49" not in answer[0].replace("7*7", ""), source[:40]
            assert "root:" not in answer[0]
    assert time.monotonic() - began < 60.0


def test_a_rule_whose_mails_are_all_costly_does_not_hold_up_the_others() -> None:
    line = "{% assign x = s | upcase | downcase %}" * 90
    source = "{% for i in (1..9999) %}" + line + "{% endfor %}"
    costly = Request((("text", source),), {"s": "x" * 50_000})
    good = Request((("text", "good"),), {})
    began = time.monotonic()

    answers = render_all([costly] * 100 + [good])

    assert answers[-1] == ["good"]
    assert all(isinstance(each, CannotCompose) for each in answers[:-1])
    assert time.monotonic() - began < 60.0  # a hundred times a second would be longer
