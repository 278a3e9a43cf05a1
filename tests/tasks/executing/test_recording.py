"""Writing down what was sent, although the database cannot take it just now."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as NoneIsFree
from sqlalchemy.orm import Session, sessionmaker

from tasks.clock import utcnow
from tasks.executing import recording
from tasks.executing.recording import patiently
from tasks.lane import Bench, Timing
from tests.support.fakes import FakePost, bench

_AWAY = OperationalError("COMMIT", None, Exception("the server closed"))
_IN_USE = NoneIsFree("QueuePool limit reached")
_BUG = IntegrityError("INSERT", None, Exception("NOT NULL"))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "_AWAY_SECONDS", 0.0)


def _bench(lease: timedelta = timedelta(minutes=1)) -> Bench:
    nowhere = sessionmaker[Session]()
    return bench(nowhere, utcnow, FakePost(), timing=Timing(lease=lease))


@pytest.mark.parametrize("error", [_AWAY, _IN_USE])
def test_what_passes_is_waited_for(error: Exception) -> None:
    troubles = [error, error]

    def step() -> str:
        if troubles:
            raise troubles.pop()
        return "written"

    assert patiently(_bench(), step) == "written"


@pytest.mark.parametrize("error", [_AWAY, _IN_USE])
def test_nobody_waits_for_longer_than_the_lease(error: Exception) -> None:
    tries: list[int] = []

    def step() -> None:
        tries.append(1)
        raise error

    with pytest.raises(type(error)):
        patiently(_bench(lease=-timedelta(seconds=1)), step)
    assert len(tries) == 1


def test_an_error_of_ours_is_told_at_once() -> None:
    tries: list[int] = []

    def step() -> None:
        tries.append(1)
        raise _BUG

    with pytest.raises(IntegrityError):
        patiently(_bench(), step)
    assert len(tries) == 1
