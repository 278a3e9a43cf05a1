"""The table of triggers is complete and consistent."""

from __future__ import annotations

from tasks.automation.triggers import TIME_TRIGGERS, TRIGGERS


def test_every_trigger_of_the_seeds_is_there() -> None:
    assert set(TRIGGERS) >= {
        "booking.confirmed",
        "booking.declined",
        "booking.canceled",
        "booking.rescheduled",
        "episode.published",
        "episode.scheduled",
        "episode.draft_created",
        "guest.responded",
        "guest.reminder_sent",
        "contact.due",
        "time.before_recording",
        "time.after_recording",
        "time.before_publish",
        "time.after_publish",
        "time.after_booking",
    }


def test_time_triggers_say_what_they_count_from_and_others_do_not() -> None:
    for name, trigger in TRIGGERS.items():
        assert trigger.name == name
        assert trigger.is_time == name.startswith("time.") == (name in TIME_TRIGGERS)
        assert (trigger.direction != 0) == trigger.is_time
        assert trigger.title
        assert trigger.sentence
        assert len(set(trigger.variables)) == len(trigger.variables)
        assert not any("token" in variable for variable in trigger.variables)
