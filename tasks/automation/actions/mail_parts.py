"""The parts of a mail: which templates it has, and what goes with the words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.automation import messages  # whole: it imports this package's base
from tasks.automation.actions.base import CannotCompose, Message
from tasks.automation.actions.invitation import invitation
from tasks.templating.renderer import Kind


def source(settings: Mapping[str, Any], field: str) -> str:
    """Return one of a mail's templates; empty when there is none."""
    return str(settings.get(field) or "")


def may_be_empty(settings: Mapping[str, Any]) -> frozenset[str]:
    """Return which templates may be empty: HTML, and text where there is HTML."""
    has_html = bool(source(settings, "html").strip())
    return frozenset({"html", "text"} if has_html else {"html"})


def parts(settings: Mapping[str, Any]) -> tuple[tuple[Kind, str], ...]:
    """Return the templates of a mail: subject, text and, when there is one, HTML."""
    text, html = source(settings, "text"), source(settings, "html")
    subject: tuple[Kind, str] = ("text", source(settings, "subject"))
    if not html.strip():
        return (subject, ("text", text))
    written: tuple[Kind, str] = ("text", text) if text.strip() else ("plain", html)
    return (subject, written, ("fragment" if settings.get("look") else "html", html))


def put_together(
    settings: Mapping[str, Any],
    context: Mapping[str, Any],
    address: str | CannotCompose,
    texts: list[str] | CannotCompose,
) -> Message | CannotCompose:
    """Return a mail of what was rendered, or why there is none."""
    if isinstance(address, CannotCompose):
        return address
    if isinstance(texts, CannotCompose):
        return texts
    subject, text, *html = texts
    try:
        return {
            "to": address,
            "subject": messages.clean_subject(subject),
            "text": text,
            "html": "".join(html),
            **_frame(settings, context),
        }
    except CannotCompose as refused:
        return refused


def _frame(settings: Mapping[str, Any], context: Mapping[str, Any]) -> Message:
    """Return what goes with the words, as far as the rule asks for it.

    Raises:
        CannotCompose: the calendar file cannot be made.
    """
    congregation = context.get("congregation")
    of = congregation if isinstance(congregation, Mapping) else {}
    frame: Message = {"optional": not settings.get("transactional")}
    if of.get("locale"):
        frame["locale"] = str(of["locale"])
    if settings.get("look"):
        frame["look"] = {"sender": str(of.get("name") or "")}
    if settings.get("calendar") and (facts := invitation(context)) is not None:
        frame["calendar"] = facts
    return frame
