"""What a run moved is told in words, whatever the lane."""

from __future__ import annotations

from dataclasses import fields
from typing import get_type_hints

import pytest

from dashboard.lanes.outcomes import OUTCOMES
from tasks.lane import Lane
from tasks.registry import LANES


@pytest.mark.parametrize("lane", LANES, ids=lambda lane: lane.name)
def test_every_outcome_of_a_lane_has_words(lane: Lane) -> None:
    swept = get_type_hints(lane.sweep)["return"]
    kinds = get_type_hints(swept)
    outcomes = {
        each.name
        for each in fields(swept)
        if str(kinds[each.name]).startswith("tuple[")
    }

    assert outcomes
    assert outcomes <= OUTCOMES.keys()
