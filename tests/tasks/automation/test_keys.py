"""Keys are the seed's, and never the same for two things."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from tasks.automation.keys import KEY_MAX, Entity, Ids, entity_of, event_key, time_key
from tasks.models import OffsetUnit, Rule

RULE = UUID(int=7)
ON = date(2026, 3, 10)


def test_the_key_of_an_event_is_the_seeds() -> None:
    key = event_key(RULE, "booking.confirmed", Ids("p", "e", "b", "g"), ON, None)
    assert key == f"{RULE}:booking.confirmed:p:e:b:g:2026-03-10"


def test_an_event_with_an_id_gets_it_appended() -> None:
    key = event_key(RULE, "booking.confirmed", Ids("p"), ON, "evt-1")
    assert key == f"{RULE}:booking.confirmed:p::::2026-03-10:evt-1"


def test_colons_within_ids_cannot_make_two_keys_the_same() -> None:
    one = event_key(RULE, "x", Ids("a:b", "c"), ON, None)
    assert one != event_key(RULE, "x", Ids("a", "b:c"), ON, None)


def test_a_key_fits_its_column_and_stays_unique() -> None:
    ids = Ids(*(":" * 64 for _ in range(4)))
    keys = {event_key(RULE, "x" * 60, ids, ON, "e" * 250 + str(n)) for n in range(5)}
    assert len(keys) == 5
    assert all(len(key) == KEY_MAX for key in keys)


def _rule(trigger: str, hours: int = 24) -> Rule:
    return Rule(
        id=RULE, trigger_type=trigger, offset_value=hours, offset_unit=OffsetUnit.HOURS
    )


def test_the_key_of_a_date_is_the_seeds_with_the_offset() -> None:
    at = datetime(2026, 3, 10, 14, 0, tzinfo=UTC)
    key = time_key(_rule("time.before_recording"), Entity("booking", "b1"), at)
    assert key == (
        f"time_trigger:{RULE}:time.before_recording:b1:2026-03-10T14:00:00Z:24hours"
    )
    other = time_key(_rule("time.before_recording", 48), Entity("booking", "b1"), at)
    assert key != other


def test_a_date_has_one_key_in_every_timezone() -> None:
    at = datetime(2026, 3, 10, 14, 0, tzinfo=UTC)
    rule, entity = _rule("time.before_publish"), Entity("episode", "e1")
    local = at.astimezone(ZoneInfo("Asia/Kathmandu"))
    assert time_key(rule, entity, at) == time_key(rule, entity, local)
    assert time_key(rule, entity, at) != time_key(rule, entity, at + timedelta(hours=1))


def test_a_booking_and_an_episode_of_the_same_id_have_two_keys() -> None:
    at = datetime(2026, 3, 10, 14, 0, tzinfo=UTC)
    rule = _rule("time.before_recording")
    assert time_key(rule, Entity("booking", "7"), at) != time_key(
        rule, Entity("episode", "7"), at
    )


def test_a_publication_is_the_episodes_also_when_a_booking_is_named() -> None:
    both = Ids("p", episode_id="e", booking_id="b")
    assert entity_of("time.before_publish", both) == Entity("episode", "e")
    assert entity_of("time.before_recording", both) == Entity("booking", "b")
    assert entity_of("time.after_booking", Ids("p")) == Entity("podcast", "p")
    assert entity_of("time.before_publish", Ids("p", None, "b")).kind == "booking"
