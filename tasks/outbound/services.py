"""Which notification services may be used, each looked at for what it opens.

All of them talk HTTP to their provider, or to the host that the address names; none
runs anything, and none reads a file once the parts behind the question mark are the
ones of ``places``.  A new one needs the same look at its module in Apprise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tasks.saying import mark


@dataclass(frozen=True, slots=True)
class Service:
    """One service of the list, and where the library has it."""

    title: str
    module: str  # of apprise.plugins; loaded when it is first needed, and no other
    plugin: str
    is_hosted: bool = False  # at the host that the address names
    #: Whether the scheme has a sister for plain HTTP: itself without the last letter.
    has_plain: bool = False


def _hosted(title: str, module: str, plugin: str) -> Service:
    return Service(title, module, plugin, is_hosted=True, has_plain=True)


_S: Final = Service
#: Every service by the scheme of its address, in the order in which operators read.
SERVICES: Final[Mapping[str, Service]] = MappingProxyType(
    {
        "bulksms": _S("BulkSMS", "bulksms", "NotifyBulkSMS"),
        "clicksend": _S("ClickSend", "clicksend", "NotifyClickSend"),
        "d7sms": _S("D7 Networks", "d7networks", "NotifyD7Networks"),
        "discord": _S("Discord", "discord", "NotifyDiscord"),
        "gchat": _S("Google Chat", "google_chat", "NotifyGoogleChat"),
        "gotifys": _hosted("Gotify", "gotify", "NotifyGotify"),
        "mmosts": _hosted("Mattermost", "mattermost", "NotifyMattermost"),
        "msgbird": _S("MessageBird", "messagebird", "NotifyMessageBird"),
        "workflows": _S("Microsoft Teams", "workflows", "NotifyWorkflows", True),
        "nctalks": _hosted("Nextcloud Talk", "nextcloudtalk", "NotifyNextcloudTalk"),
        "ntfys": _hosted("ntfy", "ntfy", "NotifyNtfy"),
        "plivo": _S("Plivo", "plivo", "NotifyPlivo"),
        "pbul": _S("Pushbullet", "pushbullet", "NotifyPushBullet"),
        "pover": _S("Pushover", "pushover", "NotifyPushover"),
        "rockets": _hosted("Rocket.Chat", "rocketchat", "NotifyRocketChat"),
        "seven": _S("seven", "seven", "NotifySeven"),
        "signals": _hosted("Signal", "signal_api", "NotifySignalAPI"),
        "sinch": _S("Sinch", "sinch", "NotifySinch"),
        "slack": _S("Slack", "slack", "NotifySlack"),
        "tgram": _S("Telegram", "telegram", "NotifyTelegram"),
        "telnyx": _S("Telnyx", "telnyx", "NotifyTelnyx"),
        "threema": _S("Threema", "threema", "NotifyThreema"),
        "twilio": _S("Twilio", "twilio", "NotifyTwilio"),
        "vonage": _S("Vonage", "vonage", "NotifyVonage"),
        "webex": _S("Webex", "webexteams", "NotifyWebexTeams"),
        "zulip": _S("Zulip", "zulip", "NotifyZulip"),
        "jsons": _hosted("JSON", "custom_json", "NotifyJSON"),
        "forms": _hosted(mark("a form"), "custom_form", "NotifyForm"),
        "xmls": _hosted("XML", "custom_xml", "NotifyXML"),
    }
)
#: The same by every scheme that an address may have.
BY_SCHEME: Final[Mapping[str, Service]] = MappingProxyType(
    {
        **SERVICES,
        **{scheme[:-1]: one for scheme, one in SERVICES.items() if one.has_plain},
    }
)
