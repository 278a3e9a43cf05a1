"""The code of docs/producers.md, run as it is shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from tests.tasks.automation.conftest import NOW, World

PAGE = Path(__file__).parents[3] / "docs" / "producers.md"
#: The code that is shown goes by the real clock.
FAR = datetime(2100, 3, 10, 12, tzinfo=UTC)
BEGINNING, FLOWS = re.findall(
    r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
)


@pytest.fixture
def flows(engine: Engine) -> dict[str, Any]:
    names: dict[str, Any] = {"engine": engine}
    exec(compile(FLOWS, PAGE.name, "exec"), names)  # noqa: S102  # that is the test
    return names


def test_a_beginning_reads_the_settings_and_connects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAR_DIR", str(tmp_path))
    names: dict[str, Any] = {}
    exec(compile(BEGINNING, PAGE.name, "exec"), names)  # noqa: S102  # that is the test
    with names["engine"].connect() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    names["engine"].dispose()
    names["queue"].close()


def test_a_confirmation_acts_now_and_plans_and_cancelling_takes_it_back(
    world: World, flows: dict[str, Any]
) -> None:
    world.rule("booking.confirmed")
    world.rule("time.before_recording", offset_value=24)
    booking = world.booking(start_time=FAR)
    told = flows["confirm_booking"](world.id, booking, NOW)
    assert told == "1 immediate, 1 scheduled"
    assert flows["confirm_booking"](world.id, booking, NOW) == (
        "0 immediate, 0 scheduled"
    )
    assert flows["cancel_booking"](world.id, booking) == 1
    assert world.jobs("pending") == []


def test_a_date_that_is_left_out_stays(world: World, flows: dict[str, Any]) -> None:
    world.rule("time.before_publish", offset_value=48)
    world.rule("time.before_recording", offset_value=1)
    episode = world.episode()
    update = flows["update_episode_dates"]
    dates = {"recording_at": FAR}
    both = {**dates, "scheduled_for": FAR + timedelta(days=7)}
    assert update(world.id, episode, both) == "0 cancelled, 2 created"
    later = {"scheduled_for": FAR + timedelta(days=8)}
    assert update(world.id, episode, later) == "1 cancelled, 1 created"
    assert len(world.jobs("pending")) == 2
    gone = {"recording_at": None}
    assert update(world.id, episode, gone) == "1 cancelled, 0 created"
