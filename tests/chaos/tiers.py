"""How much each tier does; every number of the chaos tests stands here."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Tier:
    """The numbers of one tier."""

    n_events: int  # each becomes one mail and one webhook
    n_kills: int  # F01
    n_kill_events: int  # F01: what is at work while workers are killed
    n_workers: int
    n_rounds: int  # how often each of the other faults strikes
    n_jobs: int  # F13
    timeout: int  # seconds for one test


TIERS: Final = {
    "short": Tier(60, 3, 150, 2, 2, 150, 150),
    "nightly": Tier(2_500, 100, 2_500, 8, 5, 2_000, 1_800),
    "release": Tier(25_000, 1_000, 25_000, 8, 20, 20_000, 14_400),
}
NAME: Final = os.environ.get("TIER", "short")
TIER: Final = TIERS[NAME]
IS_SHORT: Final = NAME == "short"
#: What the faults are drawn from; printed by every test that draws.
SEED: Final = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))


def chance(test: str) -> random.Random:
    """Return the random numbers of one test, the same for the same ``SEED``."""
    print(f"replay with: SEED={SEED} TIER={NAME}")  # noqa: T201  # shown on a failure
    return random.Random(f"{SEED}:{test}")
