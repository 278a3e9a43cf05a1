"""What a rule can do: one module and one row each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from tasks.automation.actions.base import Action, Effects
from tasks.automation.actions.mail import EmailAction
from tasks.automation.actions.notify import NotifyAction
from tasks.automation.actions.start_lane import StartLaneAction
from tasks.automation.actions.webhook import WebhookAction
from tasks.config import Config
from tasks.errors import InvalidInput
from tasks.saying import say

_EMAIL: Final = EmailAction()
_WEBHOOK: Final = WebhookAction()
_NOTIFY: Final = NotifyAction()
START_LANE: Final = StartLaneAction()

#: All actions by name, in the order in which operators see them.
ACTIONS: Final[Mapping[str, Action]] = MappingProxyType(
    {each.name: each for each in (_EMAIL, _WEBHOOK, _NOTIFY, START_LANE)}
)


def configure(config: Config, lanes: Mapping[str, str]) -> None:
    """Let ``check`` know what the installation allows; once, at the start.

    Args:
        lanes: those that a rule may start, name -> title.
    """
    _WEBHOOK.configure(config)
    _NOTIFY.configure(config)
    START_LANE.configure(lanes)


def make_effects(config: Config) -> Effects:
    """Return the real ways out: the mail server and the network of ``config``."""
    # Not above: these modules need this package's ``base``.
    from tasks.outbound.download import WebDownloader
    from tasks.outbound.fetch import WebFetcher
    from tasks.outbound.guard import UrlRules
    from tasks.outbound.mail import SmtpMailer
    from tasks.outbound.notify import AppriseNotifier
    from tasks.outbound.smtp import MailServer
    from tasks.outbound.unsubscribing import UnsubscribeLinks
    from tasks.outbound.web import WebPoster
    from tasks.secrets import SecretBox

    poster = WebPoster(SecretBox(config.secret_key), UrlRules.of(config))
    return Effects(
        mailer=SmtpMailer(
            server=MailServer.of(config.smtp_url) if config.smtp_url else None,
            sender=config.mail_from,
            links=UnsubscribeLinks(config.base_url, config.secret_key),
        ),
        poster=poster,
        courier=poster,
        notifier=AppriseNotifier(SecretBox(config.secret_key), UrlRules.of(config)),
        fetcher=WebFetcher(UrlRules.of(config)),
        downloader=WebDownloader(
            UrlRules.of(config), config.open_data_hosts, size_max=config.archive_limit
        ),
    )


def preview(
    action: str, settings: Mapping[str, Any], context: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the message that a rule would send in ``context``.

    Raises:
        CannotCompose: it could not be made; the sentence says why.
        InvalidInput: there is no such action (``unknown_action``).
    """
    if action not in ACTIONS:
        problem = say("There is no action %(name)s.", name=repr(action[:40]))
        raise InvalidInput("unknown_action", problem, field="action")
    return ACTIONS[action].compose(settings, context)
