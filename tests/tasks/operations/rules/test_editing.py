"""An edit makes a new version, and never overwrites what another has saved."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.db import Begin
from tasks.errors import Conflict
from tasks.models import AuditEntry, Rule
from tests.support import factories
from tests.tasks.operations.rules.conftest import MAIL, audited, create, edit


def test_an_edit_makes_a_new_version(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, MAIL)
        saved = edit(session, rule, replace(MAIL, name="Hello"), version=1)

        assert saved.changed
        assert (rule.name, rule.version) == ("Hello", 2)
        entry = session.scalars(
            select(AuditEntry).filter_by(action="rule.edited")
        ).one()
        assert entry.before is not None
        assert entry.after is not None
        assert (entry.before["name"], entry.after["name"]) == ("Welcome", "Hello")


def test_an_edit_that_changes_nothing_leaves_the_version(
    begin: Begin, of: UUID
) -> None:
    with begin() as session:
        rule = create(session, of, MAIL)
        saved = edit(session, rule, MAIL)

        assert not saved.changed
        assert rule.version == 1
        assert audited(session) == ["rule.created"]


def test_two_operators_do_not_overwrite_each_other(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, MAIL)
        edit(session, rule, replace(MAIL, name="First"), version=1)
        with pytest.raises(Conflict) as refused:
            edit(session, rule, replace(MAIL, name="Second"), version=1)

        assert refused.value.code == "changed_meanwhile"
        assert rule.name == "First"


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)  # SQLite waits
def test_who_read_the_rule_before_the_other_saved_does_not_overwrite_it(
    make_session: sessionmaker[Session],
) -> None:
    with make_session.begin() as session:
        rule_id = create(session, factories.congregation(session, "race"), MAIL).id
    with pytest.raises(Conflict), make_session.begin() as slow:  # noqa: PT012
        seen = slow.get_one(Rule, rule_id)
        with make_session.begin() as quick:
            edit(quick, seen, replace(MAIL, name="Quick"), version=1)
        assert seen.version == 1  # what this session still believes
        edit(slow, seen, replace(MAIL, name="Slow"), version=1)
    with make_session() as session:
        assert session.get_one(Rule, rule_id).name == "Quick"
