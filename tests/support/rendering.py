"""Templates rendered one by one, as an execution alone would have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.automation.actions.base import CannotCompose
from tasks.automation.messages import clean_subject, render_all
from tasks.templating.renderer import Kind, Request


def render_text(source: str, context: Mapping[str, Any]) -> str:
    return _render("text", source, context)


def render_html(source: str, context: Mapping[str, Any]) -> str:
    return _render("html", source, context)


def render_subject(source: str, context: Mapping[str, Any]) -> str:
    return clean_subject(_render("text", source, context))


def _render(kind: Kind, source: str, context: Mapping[str, Any]) -> str:
    (answer,) = render_all([Request(((kind, source),), context)])
    if isinstance(answer, CannotCompose):
        raise answer
    return answer[0]
