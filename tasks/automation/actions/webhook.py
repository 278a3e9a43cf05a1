"""The action ``webhook``: one signed POST to another application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tasks.automation.actions.base import CannotCompose, Effects, Envelope, Outcome
from tasks.config import Config
from tasks.errors import InvalidInput
from tasks.models.reason import Reason
from tasks.outbound.guard import UrlRules, check_addresses, check_form
from tasks.outbound.networks import NotResolved, Resolver, resolve
from tasks.outbound.urls import read_url
from tasks.saying import mark, say

_LOOKUP_SECONDS: Final = 2.0  # an operator waits for it
_RECIPIENT_MAX: Final = 320  # characters of an execution's recipient
#: The section of a context that says what happened; the others are the data.
_EVENT: Final = "event"


class WebhookAction:
    """Posts the context as JSON, with the headers of Standard Webhooks.

    Settings: ``url``.  The body is ``{"id", "type", "timestamp", "data"}``: the
    execution's id, the trigger, when it happened, and the context.
    """

    name = "webhook"
    title = mark("Call a webhook")
    keeps_body = True
    is_within = False

    def __init__(self) -> None:
        self._rules = UrlRules()
        self._resolver: Resolver | None = None

    def configure(self, config: Config, resolver: Resolver = resolve) -> None:
        """Check addresses by the installation's settings, and look names up.

        Without it the strictest rules hold and no name is looked up; whatever is
        saved, sending checks again.
        """
        self._rules = UrlRules.of(config)
        self._resolver = resolver

    def check(self, settings: Mapping[str, Any], trigger_type: str) -> dict[str, str]:
        """Return what is wrong with the address: field name -> sentence."""
        url = str(settings.get("url") or "")
        if not url:
            return {
                "url": say(
                    "Give the address to call, such as https://example.org/hook."
                )
            }
        try:
            target = read_url(url)
            check_form(target, self._rules)
            if self._resolver is not None and target.address is None:
                addresses = self._resolver(target.host, _LOOKUP_SECONDS)
                check_addresses(target, addresses, self._rules)
        except InvalidInput as error:
            return {"url": error.message}
        except NotResolved:
            return {}  # it may be registered tomorrow; sending says so if it is not
        return {}

    def recipient(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> str | None:
        """Return the address that is called, shortened to what a row can hold."""
        return str(settings.get("url") or "")[:_RECIPIENT_MAX] or None

    def compose(
        self, settings: Mapping[str, Any], context: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return ``url`` and ``body``, in which only the execution's id is missing.

        Raises:
            CannotCompose: the rule has no proper address.
        """
        try:
            target = read_url(str(settings.get("url") or ""))
        except InvalidInput as error:
            raise CannotCompose(Reason.BAD_MESSAGE, error.message) from error
        event = context.get(_EVENT)
        happened = event if isinstance(event, Mapping) else {}
        return {
            "url": target.url,
            "body": {
                "type": happened.get("type"),
                "timestamp": happened.get("occurred_at"),
                "data": {name: context[name] for name in context if name != _EVENT},
            },
        }

    def act(
        self, message: Mapping[str, Any], envelope: Envelope, effects: Effects
    ) -> Outcome:
        """Post the body."""
        return effects.poster.post(message, envelope)
