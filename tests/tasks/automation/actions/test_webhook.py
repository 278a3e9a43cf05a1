from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tasks.automation.actions import make_effects
from tasks.automation.actions.base import CannotCompose
from tasks.automation.actions.webhook import WebhookAction
from tasks.config import Config
from tasks.models.reason import Reason
from tasks.outbound.mail import SmtpMailer
from tasks.outbound.networks import Address, NotResolved
from tasks.outbound.web import WebPoster

CONTEXT: dict[str, Any] = {
    "event": {"type": "booking.confirmed", "occurred_at": "2026-03-10T12:00:00+00:00"},
    "guest": {"name": "Zoë"},
}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config.from_environ(
        {"VAR_DIR": str(tmp_path), "SMTP_URL": "smtp://u:p%40w@mail.test"}
    )


def finds(*addresses: str) -> Callable[[str, float], Sequence[Address]]:
    def resolver(host: str, seconds: float) -> Sequence[Address]:
        if not addresses:
            raise NotResolved("there is no such host")
        return [ipaddress.ip_address(address) for address in addresses]

    return resolver


def problem(action: WebhookAction, url: str) -> str | None:
    return action.check({"url": url}, "booking.confirmed").get("url")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "Give the address"),
        ("javascript:alert(1)", "Only https://"),
        ("http://example.com/", "Only https://"),
        ("https://127.0.0.1/", "private or local"),
        ("https://example.com:22/", "allowed are 80, 443, 8443"),
    ],
)
def test_a_bad_address_is_refused_when_the_rule_is_saved(url: str, why: str) -> None:
    assert why in (problem(WebhookAction(), url) or "")


def test_the_settings_of_the_installation_count(config: Config) -> None:
    action = WebhookAction()
    home = (ipaddress.ip_network("127.0.0.0/8"),)
    action.configure(
        replace(config, webhook_http=True, webhook_allow=home), finds("127.0.0.1")
    )

    assert problem(action, "http://127.0.0.1:5001/hook") is None
    assert problem(action, "http://receiver:5001/hook") is None


def test_a_name_with_a_private_address_is_refused_when_saved(config: Config) -> None:
    action = WebhookAction()
    action.configure(config, finds("93.184.216.34", "10.0.0.1"))

    assert "private or local" in (problem(action, "https://example.com/") or "")


def test_a_name_that_is_not_known_yet_may_be_saved(config: Config) -> None:
    action = WebhookAction()
    action.configure(config, finds())

    assert problem(action, "https://tomorrow.example.com/") is None


def test_the_body_says_what_happened_when_and_to_whom() -> None:
    message = WebhookAction().compose({"url": "HTTPS://Example.com"}, CONTEXT)

    assert message == {
        "url": "https://example.com/",
        "body": {
            "type": "booking.confirmed",
            "timestamp": "2026-03-10T12:00:00+00:00",
            "data": {"guest": {"name": "Zoë"}},
        },
    }


def test_a_rule_without_an_address_composes_nothing() -> None:
    with pytest.raises(CannotCompose) as failed:
        WebhookAction().compose({}, CONTEXT)

    assert failed.value.reason is Reason.BAD_MESSAGE


def test_the_recipient_fits_into_its_column() -> None:
    url = "https://example.com/" + "x" * 1_000

    assert WebhookAction().recipient({"url": url}, {}) == url[:320]
    assert WebhookAction().recipient({}, {}) is None


def test_the_effects_follow_the_settings(config: Config) -> None:
    effects = make_effects(config)

    assert isinstance(effects.mailer, SmtpMailer)
    assert isinstance(effects.poster, WebPoster)
    server = effects.mailer.server
    assert server is not None
    assert (server.place, server.user, server.password) == ("mail.test:25", "u", "p@w")
    assert "p@w" not in repr(effects)


def test_without_a_mail_server_there_are_effects_all_the_same(config: Config) -> None:
    effects = make_effects(replace(config, smtp_url=None))

    assert isinstance(effects.mailer, SmtpMailer)
    assert effects.mailer.server is None
