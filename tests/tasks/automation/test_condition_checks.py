"""Which conditions may be saved, and the sentence for each that may not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.automation.condition_checks import (
    CONDITIONS_MAX,
    clean_conditions,
    problems_of,
)
from tasks.automation.condition_fields import OPERATORS, Kind, fields_of, kind_of
from tasks.automation.condition_rows import Operator
from tasks.automation.triggers import TRIGGERS

CONFIRMED = TRIGGERS["booking.confirmed"]
BEFORE = TRIGGERS["time.before_recording"]


def one(field: Any, operator: Any = "is", value: Any = "x") -> dict[str, Any]:
    return {"rows": [{"field": field, "operator": operator, "value": value}]}


@pytest.mark.parametrize(
    "good",
    [
        {},
        {"match": "any", "rows": []},
        one("booking.status", "is", "confirmed"),
        one("booking.status", "one_of", "Requested, confirmed"),
        one("booking.start_time", "before", "2026-03-12"),
        one("booking.start_time", "after", "2026-03-12T14:00+01:00"),
        one("episode.episode_number", "more", "2.5"),
        one("guest.email", "empty", None),
        one("order.total", "less", "7"),
        one("event.type", "is", "booking.confirmed"),
        one("order-id", "contains", "x"),
    ],
)
def test_good_conditions_have_no_problem(good: dict[str, Any]) -> None:
    assert problems_of(good, CONFIRMED) == {}


@pytest.mark.parametrize(
    ("bad", "part", "words"),
    [
        (one(""), "field", "Choose a field"),
        (one(7), "field", "Choose a field"),
        (one("a b"), "field", "A field is a name"),
        (one("a." * 40 + "a"), "field", "A field is a name"),
        (one("{{ guest.name }}"), "field", "A field is a name"),
        (one("booking.statuss"), "field", "Did you mean booking.status?"),
        (one("guest.access_token"), "field", "There is no field"),
        (one("guest.name", "sings"), "operator", "Choose how to compare"),
        (one("guest.name", None), "operator", "Choose how to compare"),
        (one("guest.name", "less", "7"), "operator", "guest.name is text"),
        (one("guest.name", "true"), "operator", "guest.name is text"),
        (one("booking.start_time", "is"), "operator", "is a date; it can be"),
        (one("episode.episode_number", "contains"), "operator", "is a number"),
        (one("guest.name", "is", ""), "value", "Say what to compare with"),
        (one("guest.name", "is", None), "value", "Say what to compare with"),
        (one("guest.name", "one_of", " , "), "value", "Say what to compare with"),
        (one("guest.name", "is", "x" * 501), "value", "this one has 501"),
        (one("guest.name", "is", "a\x00b"), "value", "do not print"),
        (one("booking.start_time", "before", "soon"), "value", "Write a date"),
        (one("booking.start_time", "after", "12.3.2026"), "value", "Write a date"),
        (one("episode.episode_number", "less", "many"), "value", "is no number"),
        (one("episode.episode_number", "one_of", "1, b"), "value", "“b” is no number"),
        (one("order.total", "more", "x"), "value", "is no number"),
        (one("booking.status", "is", "canceled"), "value", "is never “canceled”"),
        (one("episode.status", "one_of", "draft,gone"), "value", "is never “gone”"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(
    bad: dict[str, Any], part: str, words: str
) -> None:
    problems = problems_of(bad, CONFIRMED)
    assert list(problems) == [f"conditions.0.{part}"]
    assert words in problems[f"conditions.0.{part}"]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"rows": {}}, "a list of “rows”"),
        ({"rows": [], "x": 1}, "a list of “rows”"),
        ({"match": "some", "rows": []}, "all or any"),
        ({"match": [], "rows": []}, "all or any"),
        ({"rows": [{}] * (CONDITIONS_MAX + 1)}, "at most 20"),
    ],
)
def test_what_is_wrong_with_all_of_them_is_told_once(
    bad: dict[str, Any], words: str
) -> None:
    [(name, told)] = problems_of(bad, CONFIRMED).items()
    assert name == "conditions"
    assert words in told


def test_a_date_has_no_values_of_a_producers_own() -> None:
    assert problems_of(one("order.total"), CONFIRMED) == {}
    [told] = problems_of(one("order.total"), BEFORE).values()
    assert "Nothing tells order.total" in told


def test_rows_are_counted_from_zero() -> None:
    rows = one("guest.name")["rows"] + one("guest.nam")["rows"] + ["x"]
    assert list(problems_of({"rows": rows}, CONFIRMED)) == [
        "conditions.1.field",
        "conditions.2.field",
    ]


def test_conditions_are_kept_without_what_does_not_count() -> None:
    rows = one(" guest.name ", "is", " Ada ")["rows"]
    rows += one("guest.email", "empty", "old")["rows"]
    assert clean_conditions({"rows": rows}) == {
        "match": "all",
        "rows": [
            {"field": "guest.name", "operator": "is", "value": "Ada"},
            {"field": "guest.email", "operator": "empty"},
        ],
    }
    assert clean_conditions({"match": "any", "rows": []}) == {}


def test_every_field_of_every_trigger_has_a_kind_with_operators() -> None:
    for trigger in TRIGGERS.values():
        for field in fields_of(trigger):
            kind = kind_of(field, trigger)
            assert kind is not Kind.TOLD
            assert Operator.EMPTY in OPERATORS[kind]
    assert kind_of("booking.start_time", CONFIRMED) is Kind.DATE
    assert kind_of("episode.scheduled_for", CONFIRMED) is Kind.DATE
    assert kind_of("booking.timezone", CONFIRMED) is Kind.TEXT


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@given(
    rows=st.lists(
        st.dictionaries(st.sampled_from(["field", "operator", "value"]), ANYTHING)
        | ANYTHING
    ),
    match=ANYTHING,
)
def test_nothing_that_can_be_imported_makes_it_raise(rows: Any, match: Any) -> None:
    conditions = {"match": match, "rows": rows}
    if not problems_of(conditions, CONFIRMED):
        assert clean_conditions(conditions).keys() <= {"match", "rows"}
