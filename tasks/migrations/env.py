"""Alembic's entry: it runs the steps on the connection that the caller opened."""

from __future__ import annotations

from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import Enum

from tasks.models.base import UtcDateTime


def render_item(kind: str, item: object, _: AutogenContext) -> str | Literal[False]:
    """Write our column types as plain ones: a step must never change its meaning."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, Enum):
        return f"sa.String(length={item.length})"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    # Given only when a new step is being written; running steps needs no models.
    target_metadata=context.config.attributes.get("metadata"),
    render_item=render_item,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
