"""What cannot be written down as it is keeps nobody else's end from being written."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Done, Envelope, Outcome
from tasks.executing import recording
from tasks.executing.verdicts import Verdict
from tasks.lanes.executions import sweep
from tasks.models import ExecutionState
from tests.support.executed import Sessions, add_many, attempts_of, get_one, noon
from tests.support.fakes import FakePost, bench

#: Half a letter, which no database takes.
HALF = "\udcff"


@pytest.mark.parametrize("n", [1, 3, 12])
def test_a_strange_answer_is_left_out_and_nothing_is_sent_again(
    make_session: Sessions, n: int
) -> None:
    ids = add_many(make_session, n)
    bad = ids[-1]

    def answer(envelope: Envelope) -> Outcome:
        return Done(250, response=HALF if envelope.execution_id == bad else "Ok")

    post = FakePost(answer)
    swept = sweep(bench(make_session, noon, post), 20)
    assert set(swept.succeeded) == set(ids)
    assert {get_one(make_session, id_).state for id_ in ids} == {
        ExecutionState.SUCCEEDED
    }
    assert [each.response for each in attempts_of(make_session, bad)] == [None]
    assert len(post.sent) == n


def test_what_cannot_be_written_at_all_is_left_to_rescue(
    make_session: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = add_many(make_session, 3)
    usual = recording.settle

    def settle(session: Session, verdicts: list[Verdict], **values: object) -> object:
        if ids[1] in {each.claim.execution_id for each in verdicts}:
            raise ZeroDivisionError
        return usual(session, verdicts, **values)  # type: ignore[arg-type]  # as given

    monkeypatch.setattr(recording, "settle", settle)
    swept = sweep(bench(make_session, noon, FakePost()), 20)
    assert set(swept.succeeded) == {ids[0], ids[2]}
    assert swept.lost == (ids[1],)
    assert get_one(make_session, ids[1]).state is ExecutionState.RUNNING
