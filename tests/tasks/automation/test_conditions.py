"""Conditions: what holds, what does not, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.automation.cases import why_unmet
from tasks.automation.condition_rows import WORDS, Operator, rows_of, sentence
from tasks.automation.conditions import DETAIL_MAX, unmet, with_event
from tasks.automation.payloads import Report
from tasks.models import Rule, new_id
from tasks.saying import language
from tests.support.factories import NOW

CONTEXT: dict[str, Any] = {
    "booking": {
        "status": "confirmed",
        "start_time": "2026-03-12T14:00:00+01:00",
        "guest_name": "  Jörg Weiß ",
        "guest_phone": None,
    },
    "episode": {"episode_number": 7},
    "event": {"type": "booking.confirmed", "occurred_at": "2026-03-10T12:00:00+00:00"},
    "order": {
        "total": 12.5,
        "paid": True,
        "gift": False,
        "tags": ["Choir", 7],
        "empty": [],
        "note": "   ",
        "count": "12",
        "parts": {"a": 1},
        "day": "2026-03-12",
    },
}


def one(field: str, operator: str, value: str = "") -> dict[str, Any]:
    return {"rows": [{"field": field, "operator": operator, "value": value}]}


@pytest.mark.parametrize(
    ("field", "operator", "value", "holds"),
    [
        # text, without regard to case and to space around it
        ("booking.status", "is", "confirmed", True),
        ("booking.status", "is", " CONFIRMED ", True),
        ("booking.status", "is", "confirm", False),
        ("booking.guest_name", "is", "JÖRG WEISS", True),
        ("booking.guest_name", "is", "Jo\u0308rg Weiß", True),  # composed or not
        ("booking.status", "is_not", "cancelled", True),
        ("booking.status", "is_not", "Confirmed", False),
        ("booking.guest_name", "contains", "weiß", True),
        ("booking.guest_name", "contains", "schwarz", False),
        ("booking.guest_name", "contains_not", "schwarz", True),
        ("booking.guest_name", "contains_not", "jörg", False),
        ("booking.guest_name", "starts_with", "jör", True),
        ("booking.guest_name", "starts_with", "weiß", False),
        ("booking.status", "one_of", "requested, Confirmed", True),
        ("booking.status", "one_of", "requested,declined,", False),
        # numbers, by their size
        ("episode.episode_number", "is", "7", True),
        ("episode.episode_number", "is", "7.0", True),
        ("episode.episode_number", "is_not", "07", False),
        ("episode.episode_number", "one_of", "1, 7", True),
        ("episode.episode_number", "less", "8", True),
        ("episode.episode_number", "less", "7", False),
        ("episode.episode_number", "more", "6.99", True),
        ("episode.episode_number", "more", "7", False),
        ("order.total", "more", "12.49", True),
        ("order.count", "less", "100", True),  # text that is a number
        ("order.count", "is", "12.0", False),  # text is compared as text
        ("booking.status", "more", "1", False),
        ("order.paid", "more", "0", False),  # true is no number
        # dates: wall clock without an offset, instants with one
        ("booking.start_time", "before", "2026-03-13", True),
        ("booking.start_time", "before", "2026-03-12", False),
        ("booking.start_time", "after", "2026-03-12", False),  # while the day lasts
        ("booking.start_time", "after", "2026-03-11", True),
        ("booking.start_time", "before", "2026-03-12 14:01", True),
        ("booking.start_time", "before", "2026-03-12 14:00", False),
        ("booking.start_time", "after", "2026-03-12T13:59", True),
        ("booking.start_time", "after", "2026-03-12T12:59+00:00", True),
        ("booking.start_time", "before", "2026-03-12T13:01Z", True),
        ("booking.status", "before", "2026-03-12", False),
        ("order.day", "after", "2026-03-11", True),
        ("order.day", "after", "2026-03-11T00:00Z", False),  # no instant of its own
        # booleans
        ("order.paid", "true", "", True),
        ("order.paid", "false", "", False),
        ("order.gift", "false", "", True),
        ("order.gift", "true", "", False),
        ("order.paid", "is", "true", True),
        ("booking.status", "true", "", False),
        # nothing there
        ("booking.guest_phone", "empty", "", True),
        ("booking.guest_phone", "not_empty", "", False),
        ("order.note", "empty", "", True),
        ("order.empty", "empty", "", True),
        ("order.paid", "empty", "", False),
        ("order.gift", "not_empty", "", True),
        ("order.missing", "empty", "", True),
        ("order.missing", "not_empty", "", False),
        ("order.missing", "is_not", "x", False),
        ("order.missing", "contains_not", "x", False),
        ("booking.guest_phone", "is_not", "x", False),
        ("nowhere.at.all", "less", "1", False),
        ("booking.status.deeper", "is", "confirmed", False),
        # what is made of parts
        ("order.tags", "contains", "choir", True),
        ("order.tags", "contains", "7", True),
        ("order.tags", "contains", "Choi", False),
        ("order.tags", "is", "Choir", False),
        ("order.parts", "contains", "a", False),
        ("order.parts", "starts_with", "{", False),
        ("event.type", "is", "booking.confirmed", True),
    ],
)
def test_a_condition_holds_or_not(
    field: str, operator: str, value: str, holds: bool
) -> None:
    assert (unmet(one(field, operator, value), CONTEXT) is None) is holds


def test_no_conditions_always_hold() -> None:
    assert unmet({}, {}) is None
    assert sentence({}) == ""


@pytest.mark.parametrize(
    ("match", "holds"), [("all", False), ("any", True), ("", False)]
)
def test_all_must_hold_or_one_is_enough(match: str, holds: bool) -> None:
    rows = [
        *one("booking.status", "is", "confirmed")["rows"],
        *one("order.total", "more", "99")["rows"],
    ]
    assert (unmet({"match": match, "rows": rows}, CONTEXT) is None) is holds


def test_the_first_that_fails_is_told_with_what_was_wanted_and_seen() -> None:
    wanted = one("booking.status", "is", "requested")
    told = "Wanted: booking.status is “requested”. Seen: “confirmed”."
    assert unmet(wanted, CONTEXT) == told


@pytest.mark.parametrize(
    ("field", "seen"),
    [
        ("booking.guest_phone", "Seen: no value."),
        ("booking.nothing", "Seen: no such value."),
        ("order.total", "Seen: “12.5”."),
        ("order.paid", "Seen: “true”."),
        ("order.tags", 'Seen: “["Choir", 7]”.'),
    ],
)
def test_what_is_seen_is_told_as_people_read_it(field: str, seen: str) -> None:
    assert str(unmet(one(field, "is", "x"), CONTEXT)).endswith(seen)


def test_when_one_would_be_enough_all_are_told() -> None:
    rows = one("order.total", "less", "1")["rows"] + one("a.b", "true")["rows"]
    told = unmet({"match": "any", "rows": rows}, CONTEXT)
    assert told == (
        "Wanted one of: order.total is less than “1” (seen: “12.5”); "
        "a.b is true (seen: no such value)."
    )


def test_what_is_told_has_an_end_and_no_characters_that_databases_refuse() -> None:
    rows = one("a.b", "is", "y" * 500)["rows"] * 20
    long = unmet({"match": "any", "rows": rows}, {"a": {"b": "x" * 9_000}})
    assert long is not None
    assert len(long) == DETAIL_MAX
    bad = unmet(one("a.b", "is", "y"), {"a": {"b": "\x00\ud800"}})
    assert bad is not None
    assert "\x00" not in bad
    bad.encode()


@pytest.mark.parametrize(
    "broken",
    [
        {"rows": []},
        {"rows": "all"},
        {"match": "all"},
        {"rows": [None]},
        {"rows": [{"field": "a", "operator": "sings", "value": ""}]},
        {"rows": [{"operator": "is"}]},
    ],
)
def test_conditions_that_cannot_be_read_do_not_hold(broken: dict[str, Any]) -> None:
    assert unmet(broken, CONTEXT) == (
        "The rule's conditions cannot be read; save the rule anew."
    )


def test_every_operator_has_its_words_and_reads_back() -> None:
    assert set(WORDS) == set(Operator)
    for operator in Operator:
        [row] = rows_of(one("a.b", operator, "x"))
        assert rows_of({"rows": [row.as_json]})[0].operator is operator


def test_conditions_see_the_event() -> None:
    context = with_event({"guest": {}}, "guest.responded", NOW)
    assert unmet(one("event.type", "is", "guest.responded"), context) is None
    assert unmet(one("event.occurred_at", "before", "2026-03-11"), context) is None
    assert "event" not in {"guest": {}}


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes()
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
WANTED = st.text(max_size=20) | st.sampled_from(
    ["7", "1e400", "-0", "2026-03-12", "0001-01-01T00:00+14:00", "9999-12-31", "nan"]
)


@given(
    value=JSON | st.just(10**5_000) | st.just("9999-12-31T23:59:59-23:59"),
    field=st.sampled_from(["a", "a.b", "a.b.c", ""]),
    operator=st.sampled_from(list(Operator)),
    wanted=WANTED,
    match=st.sampled_from(["all", "any", "x"]),
)
def test_nothing_makes_it_raise(
    value: object, field: str, operator: Operator, wanted: str, match: str
) -> None:
    conditions = one(field, operator, wanted) | {"match": match}
    for context in ({"a": value}, {"a": {"b": value}}):
        told = unmet(conditions, context)
        assert told is None or (told and len(told) <= DETAIL_MAX)


@given(conditions=st.dictionaries(st.sampled_from(["match", "rows", "x"]), JSON))
def test_no_stored_json_makes_it_raise(conditions: dict[str, Any]) -> None:
    assert unmet(conditions, CONTEXT) is None or conditions
    assert isinstance(sentence(conditions), str)


def test_a_decision_keeps_english_whoever_causes_it() -> None:
    report = Report(
        id=new_id(),
        congregation_id=new_id(),
        trigger_type="booking.confirmed",
        podcast_id="show",
        episode_id=None,
        booking_id=None,
        guest_id=None,
        extra={},
        external_id=None,
        occurred_at=NOW,
        source="api",
        depth=0,
    )
    wanted = {"rows": [{"field": "guest.email", "operator": "not_empty"}]}
    token = language.set("fr")
    try:
        shown = unmet(wanted, {})
        kept = why_unmet(Rule(conditions=wanted), report, {}, NOW)
    finally:
        language.reset(token)

    assert (
        shown
        == "Attendu\u00a0: guest.email n’est pas vide. Vu\u00a0: pas de telle valeur."
    )
    assert kept == "Wanted: guest.email is not empty. Seen: no such value."
