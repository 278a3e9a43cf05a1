"""What is held now, told on every page."""

from __future__ import annotations

from flask.blueprints import BlueprintSetupState

from dashboard.extensions import db
from dashboard.filters import number
from dashboard.holds import queries
from tasks.clock import utcnow


def hold_banner() -> tuple[list[queries.Line], str]:
    """Return the first of what is held, and how many more there are; one query."""
    lines = queries.active_lines(db.session(), utcnow())
    more = len(lines) - queries.BANNER_MAX
    return lines[: queries.BANNER_MAX], number(more) if more > 0 else ""


def give(state: BlueprintSetupState) -> None:
    """Let the layout draw the banner."""
    state.app.jinja_env.globals.update(hold_banner=hold_banner)
