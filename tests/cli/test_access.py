"""Operators and tokens, made on the command line."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select

from dashboard.operators.models import Operator, SetupToken
from tasks.clock import utcnow
from tasks.db import sessions
from tasks.models import ApiToken, Congregation
from tasks.operations.tokens import authenticate
from tests.cli.conftest import carillon


def test_an_operator_gets_a_link_to_set_a_password(
    environ: dict[str, str], engine: Engine
) -> None:
    result = carillon(environ, "create-operator", "Ruth@Parish.example", "--role=admin")
    assert result.exit_code == 0
    assert "ruth@parish.example is admin now." in result.output
    assert f"http://127.0.0.1:{environ['PORT']}/setup?token=" in result.output
    with sessions(engine)() as session:
        assert session.scalars(select(Operator.password)).one() is None
        assert session.scalars(select(SetupToken.operator_id)).one() is not None


def test_an_operators_password_can_be_piped_in(
    environ: dict[str, str], engine: Engine
) -> None:
    arguments = ("create-operator", "r@parish.example", "--password-stdin")
    result = carillon(environ, *arguments, input="three bells and a half\n")
    assert result.output == "r@parish.example is operator now.\n"
    with sessions(engine)() as session:
        stored = session.scalars(select(Operator.password)).one()
    assert stored is not None
    assert "bells" not in stored


@pytest.mark.parametrize("password", ["short", ""])
def test_a_bad_password_is_refused(
    environ: dict[str, str], engine: Engine, password: str
) -> None:
    arguments = ("create-operator", "r@parish.example", "--password-stdin")
    result = carillon(environ, *arguments, input=f"{password}\n")
    assert result.exit_code == 1
    assert "12 characters" in result.stderr
    with sessions(engine)() as session:
        assert session.scalars(select(Operator)).all() == []


def test_the_same_operator_twice_is_refused(
    environ: dict[str, str], engine: Engine
) -> None:
    carillon(environ, "create-operator", "r@parish.example")
    result = carillon(environ, "create-operator", "r@parish.example")
    assert result.exit_code == 1
    assert result.stderr == "carillon: r@parish.example is an operator already.\n"


def test_a_token_stands_alone_on_standard_output_and_opens_the_door(
    environ: dict[str, str], engine: Engine, parish: Congregation
) -> None:
    arguments = ("--scope", "events:write", "--days", "30")
    result = carillon(environ, "token", "parish", "Website", *arguments)
    assert result.exit_code == 0
    with sessions(engine)() as session:
        token = authenticate(session, result.stdout.strip(), utcnow())
    assert isinstance(token, ApiToken)
    assert token.scopes == "events:write"
    assert token.congregation_id == parish.id


def test_an_unknown_congregation_is_told_the_known_ones(
    environ: dict[str, str], parish: Congregation
) -> None:
    result = carillon(environ, "token", "church", "Website")
    assert result.exit_code == 1
    assert "parish" in result.stderr
