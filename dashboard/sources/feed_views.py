"""The feeds of podcasts: added, looked at, changed, taken away."""

from __future__ import annotations

from uuid import UUID

from flask import flash, redirect, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.security import actor
from dashboard.sources import queries
from dashboard.sources.forms import FeedUrlForm, NewFeedForm
from dashboard.sources.places import podcast_choices
from dashboard.sources.views import bp, config
from dashboard.web import render
from tasks.errors import InvalidInput
from tasks.models import Feed
from tasks.operations import feeds
from tasks.outbound.guard import UrlRules
from tasks.saying import say


@bp.get("/feeds/new")
def new_feed() -> str:
    """Show the form of a new feed."""
    return _new_form(NewFeedForm())


@bp.post("/feeds")
def create_feed() -> ResponseReturnValue:
    """Add a feed; the lane looks at it at once."""
    form = NewFeedForm()
    try:
        congregation_id, podcast_id = form.podcast
        feed = feeds.add_feed(
            db.session(),
            congregation_id,
            podcast_id,
            form.url.data or "",
            actor(),
            rules=UrlRules.of(config()),
        )
    except InvalidInput as refused:
        form.refuse(refused)
        return _new_form(form), 422
    db.session.commit()
    flash(say("The feed is added and looked at now."), "success")
    return redirect(url_for(".feed", feed_id=feed.id), 303)


@bp.get("/feeds/<uuid:feed_id>")
def feed(feed_id: UUID) -> str:
    """Show a feed, how it answers, and what has left it."""
    found = feeds.get_feed(db.session(), feed_id)
    form = FeedUrlForm()
    form.url.data = found.url
    return _page(form, found)


@bp.post("/feeds/<uuid:feed_id>")
def update_feed(feed_id: UUID) -> ResponseReturnValue:
    """Give a feed another address."""
    found = feeds.get_feed(db.session(), feed_id)
    form = FeedUrlForm()
    try:
        feeds.change_feed(
            db.session(),
            feed_id,
            form.url.data or "",
            actor(),
            rules=UrlRules.of(config()),
        )
    except InvalidInput as refused:
        form.refuse(refused)
        return _page(form, found), 422
    db.session.commit()
    flash(say("Saved; the feed is looked at now."), "success")
    return redirect(url_for(".feed", feed_id=feed_id), 303)


@bp.post("/feeds/<uuid:feed_id>/look")
def look_at_feed(feed_id: UUID) -> ResponseReturnValue:
    """Look at a feed now."""
    feeds.look_now(db.session(), feed_id, actor())
    db.session.commit()
    flash(say("The feed is looked at now; reload in a moment."), "success")
    return redirect(url_for(".feed", feed_id=feed_id), 303)


@bp.post("/feeds/<uuid:feed_id>/delete")
def delete_feed(feed_id: UUID) -> ResponseReturnValue:
    """Stop following a feed; its episodes stay."""
    feeds.remove_feed(db.session(), feed_id, actor())
    db.session.commit()
    flash(say("The feed is removed; its episodes stay."), "success")
    return redirect(url_for(".index"), 303)


def _new_form(form: NewFeedForm) -> str:
    form.offer(podcast_choices(db.session()))
    return render("sources/feed_new.html", form=form)


def _page(form: FeedUrlForm, found: Feed) -> str:
    session = db.session()
    podcast, congregation = queries.place_of(session, found)
    return render(
        "sources/feed.html",
        form=form,
        feed=found,
        state=queries.state_of(found),
        podcast=podcast,
        congregation=congregation,
        n_missing=queries.n_missing(session, found.id),
        missing=queries.missing(session, found),
    )
