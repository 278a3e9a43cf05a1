"""What is typed is understood, written back the same, or refused with a sentence."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tasks.errors import InvalidInput
from tasks.search.lists import EXECUTIONS, LISTS
from tasks.search.moments import settled, span
from tasks.search.parsing import LENGTH_MAX, Query, Term, parse

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def test_a_search_is_taken_apart_and_reads_back_the_same() -> None:
    expected = {
        "": Query(),
        "anna  berg": Query((), "anna berg"),
        "state:FAILED": Query((Term("state", "failed"),)),
        'Rule:"24h reminder" anna': Query((Term("rule", "24h reminder"),), "anna"),
        "-state:failed due:<=2026-12-01": Query(
            (Term("state", "failed", is_not=True), Term("due", "2026-12-01", "<="))
        ),
        r'guest:"say \"hi\" \\ bye"': Query((Term("guest", r'say "hi" \ bye'),)),
        '"state:failed" https://a.org/x 12:30 -x': Query(
            (), "state:failed https://a.org/x 12:30 -x"
        ),
        "to:a to:a to:b": Query((Term("to", "a"), Term("to", "b"))),
        'guest:"<b>"': Query((Term("guest", "<b>"),)),
        'five" pipe': Query((), 'five" pipe'),
        "guest:-x": Query((Term("guest", "-x"),)),
    }
    for typed, query in expected.items():
        assert parse(typed, EXECUTIONS) == query, typed
        assert parse(str(query), EXECUTIONS) == query, typed


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("foo:1", "There is no field “foo” here; the fields are state, rule, action"),
        ("state:", "“state:” needs a value, as in state:failed"),
        ('rule:""', "“rule:” needs a value"),
        ("state:lost", "“state” is one of pending, running"),
        ("state:>failed", "cannot be more or less"),
        ('rule:"24h', "is not closed"),
        ("due:soon", "it must be a day such as 2026-12-01"),
        ("due:2026-13-01", "it must be a day"),
        ("made:>9999-12-31", "it must be a day"),
        ("made:<0001-01-01", "it must be a day"),
        ("due:-24h", "write due:>-24h or due:<-24h"),
        ("due:<", "needs a value"),
        ("failures:many", "it must be a number up to"),
        ("failures:>99999999999999999999", "it must be a number up to"),
        ("failures:²", "it must be a number up to"),
        ("id:17", "it must be a whole id"),
        ("late:maybe", "“late” is yes or no"),
        ("x" * 501, "at most 500 characters"),
        (f'"{"x" * 501}"', "at most 500 characters"),
        (f'to:{"x" * 498} "a"', "at most 500 characters"),
        ("due:today " * 400, "at most 500 characters"),
        (" ".join(f"to:{n}" for n in range(21)), "at most 20 terms"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(
    typed: str, sentence: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(typed, EXECUTIONS)
    assert refused.value.code == "bad_search"
    assert sentence in refused.value.message


def test_what_counts_from_now_is_settled_and_then_means_the_same_for_ever() -> None:
    typed = "made:>-24h due:<today due:<=2026-05-01 made:<now"
    settled = parse(typed, EXECUTIONS).settled(EXECUTIONS, NOON)
    assert str(settled) == (
        "made:>2026-03-09T12:00:00+00:00 due:<2026-03-10 due:<=2026-05-01 "
        "made:<2026-03-10T12:00:00+00:00"
    )
    assert parse(str(settled), EXECUTIONS).settled(EXECUTIONS, NOON) == settled


def test_a_moment_lasts_as_long_as_it_leaves_open() -> None:
    for text, seconds in {
        "2026-03-01": 86_400,
        "2026-03-01T10": 3_600,
        "2026-03-01T10:30": 60,
        "2026-03-01T10:30Z": 60,
        "2026-03-01 10:30+02:00": 60,
        "2026-03-01T10:30:05": 1,
        "2026-03-01T10:30:05+02:00": 1,
        "yesterday": 86_400,
        "+7d": 0,
    }.items():
        begin, end = span(text, NOON)
        assert (end - begin).total_seconds() == seconds, text


@pytest.mark.parametrize(
    ("text", "zone", "begin", "hours"),
    [
        ("2026-12-01", "Europe/Paris", "2026-11-30T23:00", 24),
        ("2026-12-01[Asia/Kolkata]", "Europe/Paris", "2026-11-30T18:30", 24),
        ("2026-03-29", "Europe/Paris", "2026-03-28T23:00", 23),
        ("tomorrow", "Pacific/Auckland", "2026-03-11T11:00", 24),
        ("today[UTC]", "Pacific/Auckland", "2026-03-10T00:00", 24),
        ("2026-03-10T10:30", "America/New_York", "2026-03-10T14:30", 1 / 60),
        ("2026-03-10T10:30+01:00", "America/New_York", "2026-03-10T09:30", 1 / 60),
        ("-3000w", "Europe/Paris", "1970-01-01T00:00", 0),
        ("+9999w", "Europe/Paris", "2200-12-31T00:00", 0),
    ],
)
def test_days_and_times_are_those_of_a_clock_and_stay_so_once_settled(
    text: str, zone: str, begin: str, hours: float
) -> None:
    meant = span(text, NOON, ZoneInfo(zone))
    assert meant[0] == datetime.fromisoformat(begin).replace(tzinfo=UTC)
    assert (meant[1] - meant[0]).total_seconds() == pytest.approx(hours * 3600)
    kept = span(settled(text, NOON, ZoneInfo(zone)), NOON)
    # What lasts no time at all is kept as its second.
    assert kept == meant if hours else kept[0] == meant[0]


def test_an_anchored_search_means_the_same_by_every_clock() -> None:
    query = parse("due:<2026-12-01 made:>-24h made:today anna", EXECUTIONS)
    paris = query.anchored(EXECUTIONS, ZoneInfo("Europe/Paris"))
    assert str(paris) == "due:<2026-12-01[Europe/Paris] made:>-24h made:today anna"
    assert parse(str(paris), EXECUTIONS).anchored(EXECUTIONS, UTC) == paris


@pytest.mark.parametrize(
    "typed",
    [
        'a"' * 250,
        " ".join(f'to:a"{n:02}"{"y" * 16}' for n in range(20)),
        " ".join(f"due:<2026-12-{n:02}" for n in range(1, 21)),
        " ".join([*(f"due:>-{n}h" for n in range(1, 21)), "x" + '"' * 250]),
    ],
    ids=["text", "terms", "days", "spans"],
)
def test_what_was_short_enough_to_be_typed_stays_so_when_it_is_written_anew(
    typed: str,
) -> None:
    assert len(typed) <= LENGTH_MAX
    zone = ZoneInfo("America/Argentina/ComodRivadavia")
    query = parse(typed, EXECUTIONS)
    for written in (
        query,
        query.anchored(EXECUTIONS, zone),
        query.settled(EXECUTIONS, NOON, zone),
    ):
        assert parse(str(written), EXECUTIONS) == written


def test_every_field_of_every_list_takes_its_own_example() -> None:
    for fields in LISTS.values():
        for field in fields.values():
            if field.shown != "…":
                assert parse(f"{field.name}:{field.shown}", fields).terms
