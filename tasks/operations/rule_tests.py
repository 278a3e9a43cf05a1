"""Trying a rule for real, on oneself: marked as a test, counted, and written down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from html import escape
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tasks.automation.actions.base import Message
from tasks.automation.messages import SUBJECT_MAX
from tasks.errors import Conflict, InvalidInput
from tasks.models.access import AuditEntry
from tasks.models.rule import Rule
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import mark, say

#: Tests that one operator may send within ``TESTS_WITHIN``.
TESTS_MAX: Final = 10
TESTS_WITHIN: Final = timedelta(hours=1)
#: Actions of which a test can be sent, and whom it reaches.
TESTED: Final[Mapping[str, str]] = {
    "email": mark("your own address"),
    "webhook": mark("the rule's own webhook"),
    "notify": mark("the rule's own chat or phone"),
}
MARK: Final = "[TEST]"
_ACTION: Final = "rule.tested"
#: What a test of a mail keeps besides its words.
_FRAME: Final = ("look", "locale")
_BODY: Final = re.compile(r"<body[^>]*>", re.IGNORECASE)


def ask_test(
    session: Session, rule: Rule, action: str, title: str, actor: Actor, now: datetime
) -> None:
    """Write down that an operator tests a rule; the caller commits, then sends.

    Committed first, so that a test that takes the process down counts as well.

    Args:
        title: of the record that the message is made from.

    Raises:
        InvalidInput: no test of such an action can be sent.
        Conflict: the operator has sent too many.
    """
    if action not in TESTED:
        raise InvalidInput(
            "not_testable",
            say("No test of this can be sent: it has nobody to go to."),
        )
    if n_tests(session, actor, now) >= TESTS_MAX:
        raise Conflict(
            "too_many_tests",
            say("You have sent %(n)s tests within an hour; wait a while.", n=TESTS_MAX),
        )
    record(
        session,
        actor,
        _ACTION,
        Subject("rule", str(rule.id), rule.congregation_id),
        f"Sent a test of “{rule.name}”, made from {title}, to {TESTED[action]}.",
    )


def n_tests(session: Session, actor: Actor, now: datetime) -> int:
    """Return how many tests the operator sent within the last hour.

    Stops at ``TESTS_MAX``.  In every congregation, whichever the session looks at.
    """
    entries = AuditEntry.metadata.tables[AuditEntry.__tablename__].c
    some = (
        select(entries.id)
        .where(
            entries.created_at > now - TESTS_WITHIN,
            entries.action == _ACTION,
            entries.actor == actor.name,
        )
        .limit(TESTS_MAX)
        .subquery()
    )
    return session.scalar(select(func.count()).select_from(some)) or 0


def as_test(action: str, message: Message, rule: Rule, address: str) -> Message:
    """Return the message marked as a test; a mail goes to ``address`` and nowhere else.

    What would act on somebody else's behalf (an invitation, a way to unsubscribe) is
    left out of mails.
    """
    if action == "webhook":
        body = dict(message["body"])
        body["type"] = f"test.{body.get('type')}"
        return {**message, "body": {**body, "test": True}}
    words = say(
        "This is a test of the rule “%(name)s”. Nobody else received it.",
        name=rule.name,
    )
    marked: dict[str, Any] = {
        "to": message["to"],
        "subject": f"{MARK} {message['subject']}"[:SUBJECT_MAX].strip(),
        "text": f"{MARK} {words}\n\n{message['text']}",
    }
    if action != "email":
        return marked
    frame: dict[str, Any] = {name: message[name] for name in _FRAME if name in message}
    html = _marked_html(str(message.get("html") or ""), words)
    return {**frame, **marked, "to": address, "html": html, "optional": False}


def _marked_html(html: str, words: str) -> str:
    """Put the mark on top of a mail's HTML; a mail without any gets none."""
    if not html:
        return ""
    banner = f"<p><strong>{MARK}</strong> {escape(words)}</p>"
    body = _BODY.search(html)
    at = body.end() if body else 0
    return f"{html[:at]}{banner}{html[at:]}"
