"""Services that call us: listed, added, changed, taken away."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.security import actor, require
from dashboard.sources import queries
from dashboard.sources.forms import NewSourceForm, SecretForm, SourceForm
from dashboard.sources.places import podcast_choices
from dashboard.web import render
from tasks.config import Config
from tasks.errors import InvalidInput
from tasks.models import Source, SourceKind
from tasks.operations import sources
from tasks.saying import say
from tasks.secrets import SecretBox
from tasks.sources.calls import SHOWN, recent
from tasks.sources.providers import PROVIDERS

bp = Blueprint("sources", __name__, url_prefix="/sources")


@bp.get("/")
def index() -> str:
    """List whatever comes in by itself."""
    session = db.session()
    return render(
        "sources/list.html",
        sources=queries.sources(session),
        feeds=queries.feeds(session),
        guest_lists=queries.guest_lists(session),
        providers=PROVIDERS,
    )


@bp.get("/new")
@require("admin")
def new() -> str:
    """Show the form of a new source; ``?kind=`` chooses the service."""
    form = NewSourceForm()
    if request.args.get("kind") in set(SourceKind):
        form.kind.data = request.args["kind"]
    return _new_form(form)


@bp.post("/")
@require("admin")
def create() -> ResponseReturnValue:
    """Add a source and show its secret, this once.

    The answer is the page itself and no redirect: the secret stands nowhere else.
    """
    form = NewSourceForm()
    try:
        congregation_id, podcast_id = form.podcast
        source, secret = sources.add_source(
            db.session(),
            congregation_id,
            podcast_id,
            form.source_kind,
            sources.SourceChange(form.name.data or "", {}, only_listed=False),
            actor(),
            box=_box(),
            secret=form.secret.data or "",
        )
    except InvalidInput as refused:
        form.refuse(refused)
        return _new_form(form), 422
    page = _secret_page(source, secret)
    db.session.commit()
    return page, 201


@bp.get("/<uuid:source_id>")
def detail(source_id: UUID) -> str:
    """Show where the service calls, and what its last calls did."""
    session = db.session()
    source = sources.get_source(session, source_id)
    podcast, congregation = queries.place_of(session, source)
    return render(
        "sources/detail.html",
        source=source,
        provider=PROVIDERS[source.kind],
        podcast=podcast,
        congregation=congregation,
        calls=recent(session, source),
        shown=SHOWN,
        address=_address(source),
        secret_form=SecretForm(),
    )


@bp.get("/<uuid:source_id>/edit")
@require("admin")
def edit(source_id: UUID) -> str:
    """Show the form of a source."""
    source = sources.get_source(db.session(), source_id)
    form = SourceForm()
    form.fill(source)
    return _edit_form(form, source)


@bp.post("/<uuid:source_id>")
@require("admin")
def update(source_id: UUID) -> ResponseReturnValue:
    """Change a source."""
    source = sources.get_source(db.session(), source_id)
    form = SourceForm()
    try:
        sources.edit_source(db.session(), source_id, form.change(), actor())
    except InvalidInput as refused:
        form.refuse(refused)
        db.session.rollback()
        source = sources.get_source(db.session(), source_id)
        return _edit_form(form, source), 422
    db.session.commit()
    flash(say("Saved."), "success")
    return redirect(url_for(".detail", source_id=source.id), 303)


@bp.post("/<uuid:source_id>/secret")
@require("admin")
def secret(source_id: UUID) -> ResponseReturnValue:
    """Replace the secret and show the new one, this once."""
    sources.get_source(db.session(), source_id)
    form = SecretForm()
    try:
        source, plain = sources.replace_secret(
            db.session(), source_id, actor(), box=_box(), secret=form.secret.data or ""
        )
    except InvalidInput as refused:
        flash(refused.message, "error")
        return redirect(url_for(".detail", source_id=source_id), 303)
    page = _secret_page(source, plain)
    db.session.commit()
    return page


@bp.post("/<uuid:source_id>/delete")
@require("admin")
def delete(source_id: UUID) -> ResponseReturnValue:
    """Remove a source; its bookings stay."""
    gone = sources.remove_source(db.session(), source_id, actor())
    db.session.commit()
    flash(say("“%(name)s” is removed; its bookings stay.", name=gone.name), "success")
    return redirect(url_for(".index"), 303)


def config() -> Config:
    """Return the settings of this installation."""
    settings: Config = current_app.config["CARILLON"]
    return settings


def _box() -> SecretBox:
    return SecretBox(config().secret_key)


def _address(source: Source) -> str:
    return config().base_url + url_for("hooks.take", token=source.token)


def _new_form(form: NewSourceForm) -> str:
    form.offer(podcast_choices(db.session()))
    return render("sources/new.html", form=form)


def _edit_form(form: SourceForm, source: Source) -> str:
    return render(
        "sources/edit.html",
        form=form,
        source=source,
        provider=PROVIDERS[source.kind],
        links=queries.links(db.session(), source),
    )


def _secret_page(source: Source, plain: str) -> str:
    return render(
        "sources/secret.html",
        source=source,
        provider=PROVIDERS[source.kind],
        secret=plain,
        address=_address(source),
    )
