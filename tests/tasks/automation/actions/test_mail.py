from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tasks.automation.actions import ACTIONS, preview
from tasks.automation.actions.base import CannotCompose, Done, Effects, Envelope
from tasks.automation.guest_tokens import STAND_IN
from tasks.errors import InvalidInput
from tasks.models.reason import Reason

EMAIL = ACTIONS["email"]
GOOD: dict[str, Any] = {
    "recipient": "guest",
    "subject": "See you, {{ guest.name }}",
    "text": "Dear {{ guest.name }}",
    "html": "<p>Dear {{ guest.name }}</p>",
}
CONTEXT: dict[str, Any] = {
    "guest": {"name": "Zoë & Co 🎙", "email": "zoe@example.org"},
    "booking": {"guest_email": "booking@example.org"},
    "podcast": {"host_email": "host@example.org"},
}


def problems(**changes: object) -> dict[str, str]:
    return EMAIL.check({**GOOD, **changes}, "booking.confirmed")


def test_good_settings_have_no_problems() -> None:
    assert problems() == {}
    assert problems(html="") == {}
    assert problems(recipient="fixed", address="team@example.org") == {}


@pytest.mark.parametrize(
    ("changes", "field", "why"),
    [
        ({"recipient": "everybody"}, "recipient", "guest, host, contact, agent, fixed"),
        ({"recipient": "fixed"}, "address", "Give the address"),
        ({"recipient": "fixed", "address": "a@b.org, c@d.org"}, "address", "one"),
        ({"subject": ""}, "subject", "empty"),
        ({"text": "  ", "html": ""}, "text", "empty"),
        ({"subject": "{{ guest.nmae }}"}, "subject", "did you mean guest.name?"),
        ({"text": "{{ guest.name"}, "text", "}} is missing"),
        ({"html": "{% nosuch %}"}, "html", "no tag"),
    ],
)
def test_each_field_says_what_is_wrong_with_it(
    changes: dict[str, str], field: str, why: str
) -> None:
    found = problems(**changes)

    assert list(found) == [field]
    assert why in found[field]


TOKEN = "https://example.org/g?t={{ guest.access_token | url_encode }}"


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"text": TOKEN, "html": f"<a href='{TOKEN}'>a</a>"}, []),
        ({"subject": TOKEN}, ["subject"]),
        ({"text": TOKEN, "recipient": "host"}, ["text"]),
        ({"html": TOKEN, "recipient": "fixed", "address": "a@b.org"}, ["html"]),
    ],
)
def test_the_guests_token_is_for_the_guest_alone_and_for_no_subject(
    changes: dict[str, str], fields: list[str]
) -> None:
    found = problems(**changes)
    assert list(found) == fields
    assert all("no value 'guest.access_token'" in why for why in found.values())


def test_what_is_composed_has_only_a_stand_in_for_the_token() -> None:
    assert composed(text=TOKEN)["text"] == f"https://example.org/g?t={STAND_IN}"
    none = {**CONTEXT, "guest": {**CONTEXT["guest"], "access_token": None}}
    with pytest.raises(CannotCompose) as refused:
        composed(none, text=TOKEN)
    assert refused.value.reason is Reason.MISSING_VARIABLE
    text = "{{ guest.access_token | default: 'no code' }}"
    assert composed(none, text=text)["text"] == "no code"


def test_empty_settings_name_every_field_at_once() -> None:
    assert set(EMAIL.check({}, "booking.confirmed")) == {"recipient", "subject", "text"}


@pytest.mark.parametrize(
    ("settings", "context", "address"),
    [
        ({"recipient": "guest"}, CONTEXT, "zoe@example.org"),
        ({"recipient": "guest"}, {"booking": {"guest_email": "b@x.org"}}, "b@x.org"),
        ({"recipient": "host"}, CONTEXT, "host@example.org"),
        ({"recipient": "fixed", "address": "t@x.org"}, {}, "t@x.org"),
        ({"recipient": "guest"}, {"guest": {"email": None}}, None),
        ({"recipient": "host"}, {"podcast": None}, None),
        ({"recipient": "fixed"}, CONTEXT, None),
        ({}, CONTEXT, None),
    ],
)
def test_the_recipient_is_whoever_the_rule_names(
    settings: dict[str, str], context: dict[str, Any], address: str | None
) -> None:
    assert EMAIL.recipient(settings, context) == address


def test_a_message_is_composed_for_each_kind_of_part() -> None:
    assert preview("email", GOOD, CONTEXT) == {
        "to": "zoe@example.org",
        "subject": "See you, Zoë & Co 🎙",
        "text": "Dear Zoë & Co 🎙",
        "html": "<p>Dear Zoë &amp; Co 🎙</p>",
        "optional": True,
    }


def composed(context: dict[str, Any] = CONTEXT, **changes: object) -> dict[str, Any]:
    return EMAIL.compose({**GOOD, **changes}, context)


def test_without_text_the_html_says_it_in_plain_words() -> None:
    assert composed(text="")["text"] == "Dear Zoë & Co 🎙"
    assert problems(text="") == {}
    assert set(problems(text="", html="")) == {"text"}


def test_in_our_look_the_html_is_cleaned() -> None:
    html = "<p onclick='x()'>Hi<script>alert(1)</script> <a href='javascript:x'>a</a>"
    message = composed(
        {**CONTEXT, "congregation": {"name": "St. Same", "locale": "fr"}},
        look=True,
        html=html,
    )

    assert message["html"] == '<p>Hi <a rel="noopener noreferrer">a</a></p>'
    assert message["look"] == {"sender": "St. Same"}
    assert message["locale"] == "fr"


def test_a_mail_about_what_they_arranged_has_no_link_to_unsubscribe() -> None:
    assert composed(transactional=True)["optional"] is False


BOOKING = {
    "id": "b1",
    "status": "confirmed",
    "revision": 3,
    "start_time": "2026-03-12T14:00:00+01:00",
    "end_time": None,
    "meeting_url": "https://example.org/room",
    "guest_name": "Zoë",
}


def test_a_calendar_file_tells_the_booking() -> None:
    context = {**CONTEXT, "booking": BOOKING, "podcast": {"title": "Bells"}}

    assert composed(context, calendar=True)["calendar"] == {
        "id": "b1",
        "revision": 3,
        "status": "confirmed",
        "start": "2026-03-12T14:00:00+01:00",
        "end": None,
        "summary": "Bells: Recording",
        "location": "https://example.org/room",
        "host": "Bells",
        "guest": "Zoë",
    }
    assert "calendar" not in composed(context)


def test_a_declined_booking_has_no_calendar_file() -> None:
    context = {**CONTEXT, "booking": {**BOOKING, "status": "declined"}}
    assert "calendar" not in composed(context, calendar=True)


@pytest.mark.parametrize("start", [None, "soon", "2026-03-12T14:00:00", 5])
def test_a_calendar_file_needs_real_instants(start: object) -> None:
    context = {**CONTEXT, "booking": {**BOOKING, "start_time": start}}

    with pytest.raises(CannotCompose, match=r"booking\.start_time"):
        composed(context, calendar=True)


def test_only_mails_about_bookings_bring_a_calendar_file() -> None:
    settings = {"recipient": "host", "subject": "x", "text": "y", "calendar": True}
    assert EMAIL.check(settings, "booking.canceled") == {}
    assert EMAIL.check(settings, "time.before_recording") == {}
    assert set(EMAIL.check(settings, "episode.published")) == {"calendar"}


def test_many_are_composed_at_once_and_each_fails_alone() -> None:
    asks = [
        (GOOD, CONTEXT),
        (GOOD, {"guest": {"name": "Zoë"}}),
        ({**GOOD, "text": "{% for i in (1..99999999) %}{% endfor %}"}, CONTEXT),
        ({**GOOD, "subject": "a\nb"}, CONTEXT),
        (GOOD, CONTEXT),
    ]
    made = EMAIL.compose_all(asks)  # type: ignore[attr-defined]

    reasons = [each.reason for each in made if isinstance(each, CannotCompose)]
    assert made[0] == made[4] == EMAIL.compose(GOOD, CONTEXT)
    assert reasons == [Reason.NO_RECIPIENT, Reason.BAD_MESSAGE, Reason.BAD_MESSAGE]


@pytest.mark.parametrize("email", [None, "", "nobody", "a@b.org\r\nBcc: c@d.org"])
def test_without_a_good_address_nothing_is_composed(email: str | None) -> None:
    with pytest.raises(CannotCompose) as failed:
        EMAIL.compose(GOOD, {"guest": {"name": "Zoë", "email": email}})

    assert failed.value.reason is Reason.NO_RECIPIENT


def test_a_missing_value_stops_the_mail() -> None:
    with pytest.raises(CannotCompose) as failed:
        EMAIL.compose(GOOD, {"guest": {"name": None, "email": "zoe@example.org"}})

    assert failed.value.reason is Reason.MISSING_VARIABLE


def test_acting_hands_the_message_to_the_mailer() -> None:
    sent: list[object] = []

    class Mailer:
        def send(self, message: object, envelope: Envelope) -> Done:
            sent.append(message)
            return Done(250)

    envelope = Envelope(UUID(int=1), UUID(int=2), None)
    effects = Effects(mailer=Mailer(), poster=None)  # type: ignore[arg-type]

    assert EMAIL.act({"to": "a@b.org"}, envelope, effects) == Done(250)
    assert sent == [{"to": "a@b.org"}]


def test_a_preview_of_an_unknown_action_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no action 'fax'"):
        preview("fax", {}, {})
