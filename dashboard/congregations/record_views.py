"""The pages of one booking, one episode, one guest: each tells its whole story."""

from __future__ import annotations

from typing import Any

from flask import request

from dashboard.congregations import podcast_queries, queries
from dashboard.congregations.podcast_views import wall_clock
from dashboard.congregations.records import bookings_of, names_of
from dashboard.congregations.timeline import timeline
from dashboard.congregations.views import bp, page_size
from dashboard.extensions import db
from dashboard.web import render
from tasks.automation.entities import Kind, Record, find_record, title_of
from tasks.models import Congregation


@bp.get("/<slug>/bookings/<booking_id>")
def booking(slug: str, booking_id: str) -> str:
    """Show a booking and everything that happened, or is to happen, about it."""
    session = db.session()
    congregation = queries.congregation(session, slug)
    facts = podcast_queries.booking(session, congregation.id, booking_id)
    return _page("booking", congregation, facts.booking, facts=facts)


@bp.get("/<slug>/episodes/<episode_id>")
def episode(slug: str, episode_id: str) -> str:
    """Show an episode, its bookings, and everything about them."""
    return _found("episode", slug, episode_id)


@bp.get("/<slug>/guests/<guest_id>")
def guest(slug: str, guest_id: str) -> str:
    """Show a guest, their bookings, and everything about them."""
    return _found("guest", slug, guest_id)


def _found(kind: Kind, slug: str, id_: str) -> str:
    session = db.session()
    congregation = queries.congregation(session, slug)
    record = find_record(session, kind, congregation.id, id_)
    podcast = queries.podcast(session, congregation.id, record.podcast_id)
    return _page(kind, congregation, record, podcast=podcast)


def _page(
    kind: Kind,
    congregation: Congregation,
    record: Record,
    **values: Any,  # noqa: ANN401  # a template takes anything
) -> str:
    session, cursor = db.session(), request.args.get("cursor")
    bookings = bookings_of(session, record)
    names = names_of(record, bookings)
    return render(
        f"congregations/{kind}.html",
        congregation=congregation,
        record=record,
        title=title_of(record),
        bookings=bookings,
        story=timeline(session, names, cursor, page_size()),
        local=wall_clock,
        **values,
    )
