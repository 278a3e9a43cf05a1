"""A rule of a webhook has a secret: sealed, replaced, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from sqlalchemy import select

from tasks.db import Begin
from tasks.errors import InvalidInput
from tasks.models import AuditEntry
from tasks.operations.rules import create_rule, rotate_secret
from tests.support import factories
from tests.tasks.operations.rules.conftest import (
    ACTOR,
    BOX,
    HOOK,
    MAIL,
    audited,
    create,
    edit,
)


def test_a_webhook_rule_gets_a_secret_that_is_kept_sealed(
    begin: Begin, of: UUID
) -> None:
    with begin() as session:
        saved = create_rule(session, of, HOOK, ACTOR, BOX, now=factories.NOW)

        assert saved.secret is not None
        assert saved.secret.startswith("whsec_")
        assert saved.rule.secret is not None
        assert saved.secret not in saved.rule.secret
        assert BOX.unseal(saved.rule.secret) == saved.secret
        entry = session.scalars(select(AuditEntry)).one()
        assert saved.secret not in f"{entry.after} {entry.summary}"


def test_rotating_replaces_the_secret(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, HOOK)
        before = rule.secret
        saved = rotate_secret(session, rule.id, ACTOR, BOX)

        assert saved.secret is not None
        assert rule.secret not in {None, before}
        assert BOX.unseal(str(rule.secret)) == saved.secret
        assert audited(session)[-1] == "rule.secret_rotated"


def test_a_mail_rule_has_no_secret_to_rotate(begin: Begin, of: UUID) -> None:
    with begin() as session:
        rule = create(session, of, MAIL)
        with pytest.raises(InvalidInput) as refused:
            rotate_secret(session, rule.id, ACTOR, BOX)
    assert refused.value.code == "no_secret"


def test_a_mail_rule_that_becomes_a_webhook_gets_its_secret(
    begin: Begin, of: UUID
) -> None:
    with begin() as session:
        rule = create(session, of, MAIL)

        assert edit(session, rule, HOOK).secret is not None
        assert edit(session, rule, replace(HOOK, name="Same")).secret is None
