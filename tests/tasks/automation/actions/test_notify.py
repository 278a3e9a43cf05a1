"""The action ``notify``: what may be saved, and what it makes of a context."""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tasks.automation.actions import ACTIONS, make_effects
from tasks.automation.actions.base import (
    CannotCompose,
    Done,
    Effects,
    Envelope,
    KeepsSecret,
    Outcome,
    TryAgain,
)
from tasks.automation.actions.notify import NotifyAction
from tasks.config import Config
from tasks.models.reason import Reason
from tasks.outbound.networks import Address
from tasks.outbound.notify import NOT_INSTALLED, AppriseNotifier
from tests.support.fakes import FakePost

DISCORD = "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js"
GOOD = {
    "target": DISCORD,
    "title": "{{ guest.name }}",
    "words": "New time: {{ booking.start_time }}",
}
CONTEXT: dict[str, Any] = {
    "guest": {"name": "Zoë\n🎙"},
    "booking": {"start_time": "2026-03-12T12:00:00+00:00"},
}


def problems(action: NotifyAction | None = None, **values: Any) -> dict[str, str]:
    return (action or NotifyAction()).check({**GOOD, **values}, "booking.confirmed")


def finds(address: str) -> Callable[[str, float], Sequence[Address]]:
    return lambda *_: [ipaddress.ip_address(address)]


def test_good_settings_are_good() -> None:
    assert problems() == {}
    assert problems(title="") == {}
    assert isinstance(ACTIONS["notify"], KeepsSecret)


@pytest.mark.parametrize(
    ("values", "field", "why"),
    [
        ({"target": ""}, "target", "Give the address"),
        ({"target": "file:///etc/passwd"}, "target", "Use an address of one of"),
        ({"target": "jsons://127.0.0.1/"}, "target", "private or local"),
        ({"target": "json://example.org/"}, "target", "Only https://"),
        ({"target": "jsons://example.org:22/"}, "target", "allowed are 80"),
        ({"words": " "}, "words", "empty"),
        ({"words": "{{ nobody.name }}"}, "words", "nobody.name"),
        ({"title": "{% include 'x' %}"}, "title", "include"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    values: dict[str, str], field: str, why: str
) -> None:
    found = problems(**values)

    assert list(found) == [field]
    assert why in found[field]


def test_an_address_that_is_kept_already_need_not_be_given_again() -> None:
    assert problems(target=NotifyAction().mask(DISCORD)) == {}


def test_the_names_of_hosts_are_looked_up_where_the_installation_allows(
    tmp_path: Path,
) -> None:
    config = Config.from_environ({"VAR_DIR": str(tmp_path)})
    action = NotifyAction()
    action.configure(config, finds("10.0.0.1"))

    assert "private" in problems(action, target="jsons://inside.example.org/")["target"]
    action.configure(config, finds("93.184.216.34"))
    assert problems(action, target="jsons://outside.example.org/") == {}


def test_without_the_library_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in list(sys.modules):
        if name == "apprise" or name.startswith("apprise."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "apprise", None)

    assert problems() == {"target": NOT_INSTALLED}


def test_it_composes_one_line_and_a_text() -> None:
    message = NotifyAction().compose(GOOD, CONTEXT)

    assert message["to"] == "discord://••••V_js"
    assert message["subject"] == "Zoë 🎙"
    assert message["text"].startswith("New time: 2026-03-12")


def test_a_missing_value_is_no_message() -> None:
    with pytest.raises(CannotCompose) as refused:
        NotifyAction().compose(GOOD, {"guest": {}})

    assert refused.value.reason is Reason.MISSING_VARIABLE


def test_many_are_composed_at_once_and_one_that_fails_fails_alone() -> None:
    made = NotifyAction().compose_all([(GOOD, CONTEXT), (GOOD, {}), (GOOD, CONTEXT)])

    assert [isinstance(each, CannotCompose) for each in made] == [False, True, False]


def test_it_acts_through_the_notifier() -> None:
    class Notifier:
        def notify(self, message: Any, envelope: Envelope) -> Outcome:
            return Done(200, message["text"])

    post = FakePost()
    envelope = Envelope(UUID(int=1), UUID(int=2), "sealed")
    action = NotifyAction()

    effects = Effects(mailer=post, poster=post, notifier=Notifier())
    assert action.act({"text": "Hi"}, envelope, effects) == Done(200, "Hi")
    without = action.act({}, envelope, Effects(mailer=post, poster=post))
    assert isinstance(without, TryAgain)


def test_the_real_way_out_is_the_library(tmp_path: Path) -> None:
    effects = make_effects(Config.from_environ({"VAR_DIR": str(tmp_path)}))

    assert isinstance(effects.notifier, AppriseNotifier)
