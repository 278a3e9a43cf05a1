"""Who may call what: every role, endpoint and method, each said in one table.

The table is ``role_matrix.txt``.  A new endpoint fails here until somebody has thought
about who may call it, and has written that down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask

from dashboard.operators.models import RoleName
from dashboard.security import OWN_CREDENTIALS, PUBLIC, needed_role
from tests.dashboard.conftest import Browser
from tests.dashboard.test_security import address

TABLE = Path(__file__).with_name("role_matrix.txt")
ROLES = (RoleName.VIEWER, RoleName.OPERATOR, RoleName.ADMIN)
#: What a cell may say, for nobody and then for each of the roles.
OPEN, TOKEN, LOGIN, YES, NO = "open", "token", "login", "yes", "no"
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}
Key = tuple[str, str]


def expected() -> dict[Key, tuple[str, ...]]:
    """Return the table: (method, endpoint) -> a cell for nobody and for each role."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    assert rows == sorted(rows, key=lambda row: (row[1], row[0])), "keep it sorted"
    found = {(row[0], row[1]): tuple(row[2:]) for row in rows}
    assert len(found) == len(rows), "an endpoint stands there twice"
    return found


def endpoints(app: Flask) -> Iterator[Key]:
    for rule in app.url_map.iter_rules():
        for method in (rule.methods or set()) & METHODS:
            yield method, rule.endpoint


def as_it_is(method: str, endpoint: str) -> tuple[str, ...]:
    """Return what the guard does, in the words of the table."""
    if endpoint in PUBLIC:
        return (OPEN,) * 4
    if endpoint.partition(".")[0] in OWN_CREDENTIALS:
        return (TOKEN,) * 4
    needed = needed_role(endpoint, method)
    return (LOGIN, *(YES if role.covers(needed) else NO for role in ROLES))


def test_every_endpoint_has_its_line_and_the_guard_agrees(app: Flask) -> None:
    table = expected()
    with app.app_context():
        found = {key: as_it_is(*key) for key in endpoints(app)}
    wrong = {key: cells for key, cells in found.items() if table.get(key) != cells}
    lines = "\n".join(" ".join((*key, *wrong[key])) for key in sorted(wrong))
    assert not wrong, f"{TABLE.name} lacks, or says otherwise about:\n{lines}"
    gone = sorted(set(table) - set(found))
    assert not gone, f"{TABLE.name} tells of what is not there: {gone}"


@pytest.mark.parametrize("role", ROLES)
def test_who_may_not_is_refused_by_the_server(
    app: Flask, log_in: Callable[..., Browser], role: RoleName
) -> None:
    browser = log_in(role)
    place = 1 + ROLES.index(role)
    rules = {rule.endpoint: rule for rule in app.url_map.iter_rules()}
    for (method, endpoint), cells in expected().items():
        if cells[place] == NO:
            path = address(app, rules[endpoint])
            answer = browser.open(path, method=method)
            assert answer.status_code == 403, (method, endpoint, answer.status_code)


def test_nobody_is_let_in_where_a_login_is_needed(app: Flask, client: Browser) -> None:
    client.learn_token()
    rules = {rule.endpoint: rule for rule in app.url_map.iter_rules()}
    for (method, endpoint), cells in expected().items():
        if cells[0] == LOGIN:
            answer = client.open(address(app, rules[endpoint]), method=method)
            assert answer.status_code in {302, 303}, (method, endpoint)
            assert answer.location.startswith("/login"), (method, endpoint)
