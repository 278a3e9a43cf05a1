"""Addresses of places to notify: a reviewed list, and nothing dangerous behind it."""

from __future__ import annotations

import importlib

import pytest

from tasks.errors import InvalidInput
from tasks.outbound.places import is_mask, mask, read_place
from tasks.outbound.services import BY_SCHEME, SERVICES

DISCORD = "4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js"


@pytest.mark.parametrize(
    ("address", "service", "host"),
    [
        (f"discord://{DISCORD}", "Discord", None),
        (f"https://discord.com/api/webhooks/{DISCORD}", "Discord", None),
        (
            "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
            "Slack",
            None,
        ),
        ("tgram://123456789:abcdefg_hijklmnop/12315544/", "Telegram", None),
        ("ntfy://mytopic", "ntfy", None),
        ("ntfys://ntfy.example.org/bells", "ntfy", "https://ntfy.example.org/"),
        ("gotify://gotify.example.org/AzbCdEfGhIjKlMn", "Gotify", "http://gotify."),
        ("jsons://u:p@example.org:8443/x", "JSON", "https://example.org:8443/"),
        ("json://[::1]/", "JSON", "http://[::1]/"),
        ("rockets://u:p@chat.example.org/#bells", "Rocket.Chat", "https://chat."),
    ],
)
def test_an_address_says_which_service_and_which_host(
    address: str, service: str, host: str | None
) -> None:
    place = read_place(address)

    assert place.service.title == service
    assert (place.target.url if place.target else None or "").startswith(host or "")
    assert (place.target is None) == (host is None)
    assert place.plugin.redirects is False


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("", "notify_service"),
        ("file:///etc/passwd", "notify_service"),
        ("syslog://", "notify_service"),
        ("dbus://", "notify_service"),
        ("windows://", "notify_service"),
        ("mailto://user:pass@example.org", "notify_service"),
        ("ses://user@example.org/key/secret/us-east-1", "notify_service"),
        ("https://example.org/hook", "notify_service"),
        ("http://169.254.169.254/latest/meta-data", "notify_service"),
        ("jsons://example.org/?verify=no", "notify_argument"),
        ("jsons://example.org/?redirect=yes", "notify_argument"),
        ("jsons://example.org/?rto=600", "notify_argument"),
        ("jsons://example.org/?retry=10", "notify_argument"),
        ("jsons://example.org/?attach=/etc/passwd", "notify_argument"),
        (f"discord://{DISCORD}?template=/etc/passwd", "notify_argument"),
        (f"discord://{DISCORD}?TEMPLATE=/etc/passwd", "notify_argument"),
        ("slack://TokenA", "notify_incomplete"),
        ("discord://", "notify_incomplete"),
        ("jsons://", "notify_incomplete"),
        ("tgram://123456789:abcdefg_hijklmnop/1/2", "notify_many"),
        ("jsons://example.org/a b", "notify_malformed"),
        ("jsons://example.org/\r\nHost: x", "notify_malformed"),
        ("jsons://[/", "notify_malformed"),
        ("jsons://example.org/" + "x" * 3000, "too_long"),
    ],
)
def test_what_may_not_be_notified_is_refused_in_a_sentence(
    address: str, code: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_place(address)

    assert refused.value.code == code
    assert refused.value.field == "target"
    assert refused.value.message.endswith(".")


def test_a_mask_shows_the_service_and_the_end_and_no_more() -> None:
    shown = mask(f"discord://{DISCORD}")

    assert shown == "discord://••••V_js"
    assert is_mask(shown)
    assert not is_mask(f"discord://{DISCORD}")


def test_of_a_short_address_not_even_the_end_is_shown() -> None:
    assert mask("gotify://host/AzbCdEfGhIjKlMn") == "gotify://••••"


@pytest.mark.parametrize("scheme", SERVICES)
def test_the_library_has_every_service_under_its_scheme(scheme: str) -> None:
    service = SERVICES[scheme]
    module = importlib.import_module(f"apprise.plugins.{service.module}")
    named = getattr(module, service.plugin).secure_protocol

    assert scheme in ([named] if isinstance(named, str) else list(named))


def test_only_hosted_services_have_a_plain_sister() -> None:
    assert {each for each in BY_SCHEME if each not in SERVICES} == {
        scheme[:-1] for scheme, each in SERVICES.items() if each.has_plain
    }
    assert all(each.is_hosted for each in SERVICES.values() if each.has_plain)
