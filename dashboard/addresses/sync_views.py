"""Syncs: asked for, watched, cancelled."""

from __future__ import annotations

from typing import Any, BinaryIO, Final, cast
from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.addresses import queries
from dashboard.addresses.filters import SyncFilter
from dashboard.addresses.forms import SyncForm
from dashboard.addresses.views import bp, config
from dashboard.extensions import db
from dashboard.office import chosen_id, page_size, places
from dashboard.search.views import explains
from dashboard.security import actor, require
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.addresses.areas import get_area
from tasks.congregation.addresses.starting import (
    SOURCES_MAX,
    cancel_sync,
    department_urls,
    open_sync,
    start_sync,
    url_source,
)
from tasks.congregation.addresses.uploads import forget, keep_upload
from tasks.db import sessions
from tasks.errors import Conflict, InvalidInput
from tasks.outbound.download import check_source
from tasks.outbound.guard import UrlRules
from tasks.saying import mark, say
from tasks.storage import StorageFailed, make_storage

_UNDER_WAY: Final = mark("One is under way already; here it is.")


@bp.get("/syncs")
@explains("syncs")
def syncs() -> str:
    """List syncs, newest first."""
    form, cursor = SyncFilter.read(request.args), request.args.get("cursor")
    wanted = form.conditions(utcnow())
    page = queries.syncs(db.session(), wanted, cursor, page_size())
    return render("addresses/syncs.html", page=page, form=form)


@bp.get("/syncs/new")
@require("operator")
def new_sync() -> str:
    """Show from where addresses may be read."""
    form = SyncForm(request.args)
    session = db.session()
    offered = places(session)
    if len(offered) == 1:
        form.urls.data = "\n".join(get_area(session, offered[0].id).urls)
    return _form(form)


@bp.post("/syncs")
def start() -> ResponseReturnValue:
    """Ask for a sync; one that is under way is shown instead."""
    form = SyncForm()
    kept: list[dict[str, Any]] = []
    try:
        of = _congregation(form)
        if (running := open_sync(db.session(), of)) is not None:
            flash(say(_UNDER_WAY), "info")
            return redirect(url_for(".sync", sync_id=running.id), 303)
        named = _named(form)
        kept = _uploaded(of, form)
        started = start_sync(
            db.session(),
            of,
            [*named, *kept],
            actor(),
            now=utcnow(),
            accepts=bool(form.accepts.data),
        )
    except InvalidInput as refused:
        _forget(kept)
        form.refuse(refused)
        return _form(form), 422
    id_ = started.sync.id
    if started.is_new:
        db.session.commit()
    else:  # somebody was quicker
        _forget(kept)
        flash(say(_UNDER_WAY), "info")
    return redirect(url_for(".sync", sync_id=id_), 303)


@bp.get("/syncs/<uuid:sync_id>")
def sync(sync_id: UUID) -> str:
    """Show how far a sync is, or what became of it."""
    line = queries.sync(db.session(), sync_id)
    return render("addresses/sync.html", fragment="addresses/_sync.html", line=line)


@bp.post("/syncs/<uuid:sync_id>/cancel")
def cancel(sync_id: UUID) -> ResponseReturnValue:
    """Cancel a sync; nothing will have been changed."""
    session = db.session()
    try:
        cancel_sync(session, sync_id, actor(), utcnow())
    except Conflict as refused:
        session.rollback()
        flash(refused.message, "warning")
    else:
        session.commit()
        flash(say("Cancelled; nothing is changed."), "success")
    return redirect(url_for(".sync", sync_id=sync_id), 303)


def _form(form: SyncForm) -> str:
    session = db.session()
    form.offer_places(places(session))
    return render("addresses/sync_new.html", form=form, limit=config().archive_limit)


def _congregation(form: SyncForm) -> UUID:
    """Return whose addresses are meant.

    Raises:
        InvalidInput: none was chosen that is seen here.
    """
    chosen = chosen_id(form.congregation_id.data)
    if chosen not in {each.id for each in places(db.session())}:
        raise InvalidInput(
            "required", say("Choose a congregation."), field="congregation_id"
        )
    assert chosen is not None  # noqa: S101  # narrows the type
    return chosen


def _named(form: SyncForm) -> list[dict[str, Any]]:
    """Return the files that were named by department or address.

    Raises:
        InvalidInput: one may not be fetched.
    """
    urls = department_urls(form.departments.data or "", form.form.data or "ban")
    given = (form.urls.data or "").split()
    rules = UrlRules.of(config())
    for url in given[: SOURCES_MAX + 1]:
        try:
            check_source(url, config().open_data_hosts, rules)
        except InvalidInput as refused:
            told = say("%(url)s: %(problem)s", url=url[:80], problem=refused.message)
            raise InvalidInput(refused.code, told, field="urls") from refused
    return [url_source(url) for url in dict.fromkeys([*urls, *given])]


def _uploaded(of: UUID, form: SyncForm) -> list[dict[str, Any]]:
    """Store what was uploaded; returns it as sources.

    Raises:
        InvalidInput: it is too large, too much, or cannot be stored now.
    """
    files = [each for each in request.files.getlist(form.files.name) if each.filename]
    if len(files) > SOURCES_MAX:
        raise InvalidInput(
            "too_many",
            say("A sync may have %(max)s files at most.", max=SOURCES_MAX),
            field="files",
        )
    # Storing may take seconds, and nobody else could write to SQLite meanwhile.
    db.session.rollback()
    begin, storage = sessions(db.engine).begin, make_storage(config())
    limit, kept = config().archive_limit, list[dict[str, Any]]()
    try:
        for file in files:
            upload = (str(file.filename), cast("BinaryIO", file.stream))
            kept.append(keep_upload(begin, storage, of, upload, utcnow(), limit=limit))
    except StorageFailed as error:
        _forget(kept)
        raise InvalidInput("storage", str(error), field="files") from error
    except InvalidInput as refused:
        _forget(kept)
        raise InvalidInput(refused.code, refused.message, field="files") from refused
    return kept


def _forget(sources: list[dict[str, Any]]) -> None:
    """Have uploads removed that no sync is going to read, and nothing else changed."""
    db.session.rollback()
    forget(db.session(), sources, utcnow())
    db.session.commit()
