"""Text is found in any case, whatever its letters and in whichever column it is."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.db import Begin
from tasks.models import Episode, Execution
from tasks.operations.matching import Matching, narrow
from tests.support import factories


def _add(session: Session) -> UUID:
    here = factories.congregation(session)
    factories.booking(session, here, guest_name="Élodie Œuf_50%")
    noel = Episode(congregation_id=here, id="été", podcast_id="show", title="Noël")
    session.add(noel)
    rule = factories.rule(session, here, name="ÉTÉ")
    row = factories.execution(
        session, rule, recipient="anna@example.org", episode_id="été"
    )
    session.flush()
    return row.id


@pytest.mark.parametrize(
    ("asked", "is_found"),
    [
        (Matching(text="élodie"), True),
        (Matching(text="ÉLODIE œUF"), True),
        (Matching(text="noËl"), True),
        (Matching(text="ÉTÉ"), True),
        (Matching(text="f_50%"), True),
        (Matching(text="f_5_"), False),
        (Matching(text="elodie"), False),  # accents are letters
        (Matching(text="b1 été"), False),  # parts of two columns
        (Matching(query='guest:"élodie œ"'), True),
        (Matching(query="rule:été"), True),
        (Matching(query="rule:ete"), False),
    ],
)
def test_letters_beyond_ascii_have_a_case_too(
    begin: Begin, asked: Matching, is_found: bool
) -> None:
    with begin() as session:
        row = _add(session)
        found = session.scalars(narrow(select(Execution.id), Execution, asked)).all()
        assert found == ([row] if is_found else [])
