"""Endpoints: listed, shown, added, changed, removed."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, current_app, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.deeds import deeds
from dashboard.extensions import db
from dashboard.rules.scope import applies_to, places
from dashboard.search.views import explains
from dashboard.security import actor, may, require
from dashboard.web import render
from dashboard.webhooks import queries
from dashboard.webhooks.filters import EndpointFilter
from dashboard.webhooks.forms import EndpointForm, ReplayForm, RotateForm
from tasks.clock import utcnow
from tasks.config import Config
from tasks.errors import InvalidInput
from tasks.lane import COUNT_CAP
from tasks.models import Endpoint, OperationKind
from tasks.operations.deliveries import DeliveryMatching
from tasks.operations.kinds import Asked
from tasks.operations.many import n_meant
from tasks.saying import say
from tasks.secrets import SecretBox
from tasks.webhooks import endpoints, switching
from tasks.webhooks.filters import EVENT_TYPES
from tasks.webhooks.finding import get_endpoint
from tasks.webhooks.health import off_at

bp = Blueprint("webhooks", __name__, url_prefix="/webhooks")


@bp.get("/")
@explains("endpoints")
def index() -> str:
    """List the endpoints and how they fare."""
    form, now = EndpointFilter.read(request.args), utcnow()
    wanted, cursor = form.conditions(now), request.args.get("cursor")
    page = queries.endpoints(db.session(), wanted, now, cursor, config().page_size)
    return render("webhooks/list.html", page=page, form=form)


@bp.get("/new")
@require("admin")
def new() -> str:
    """Show the form of a new endpoint."""
    return _new_form(EndpointForm())


@bp.post("/")
@require("admin")
def create() -> ResponseReturnValue:
    """Add an endpoint and show its secret, this once.

    The answer is the page itself and no redirect: the secret stands nowhere else.
    """
    form = EndpointForm()
    try:
        change = form.change()
        of = form.place.congregation_id
        endpoint, secret = endpoints.add_endpoint(
            db.session(), of, change, actor(), box=box(), now=utcnow()
        )
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _new_form(form), 422
    page = secret_page(endpoint, secret, is_new=True)
    db.session.commit()
    return page, 201


@bp.get("/<uuid:endpoint_id>")
def detail(endpoint_id: UUID) -> str:
    """Show how an endpoint fares, and its last deliveries."""
    return detail_page(endpoint_id, ReplayForm(formdata=None))


@bp.get("/<uuid:endpoint_id>/edit")
@require("admin")
def edit(endpoint_id: UUID) -> str:
    """Show the form of an endpoint."""
    endpoint = get_endpoint(db.session(), endpoint_id)
    form = EndpointForm()
    form.fill(endpoint)
    return _edit_form(form, endpoint)


@bp.post("/<uuid:endpoint_id>")
@require("admin")
def update(endpoint_id: UUID) -> ResponseReturnValue:
    """Change an endpoint."""
    endpoint = get_endpoint(db.session(), endpoint_id)
    form = EndpointForm()
    try:
        change = form.change()
        if form.place.congregation_id != endpoint.congregation_id:
            raise InvalidInput(
                "other_congregation",
                say(
                    "An endpoint stays with its congregation; add another one instead."
                ),
                field="scope",
            )
        endpoints.edit_endpoint(db.session(), endpoint_id, change, actor(), utcnow())
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _edit_form(form, get_endpoint(db.session(), endpoint_id)), 422
    db.session.commit()
    flash(say("Saved. What waits goes to this address."), "success")
    return redirect(url_for(".detail", endpoint_id=endpoint_id), 303)


@bp.post("/<uuid:endpoint_id>/delete")
@require("admin")
def delete(endpoint_id: UUID) -> ResponseReturnValue:
    """Remove an endpoint; what was sent to it stays readable."""
    gone = endpoints.remove(db.session(), endpoint_id, actor(), utcnow())
    db.session.commit()
    flash(
        say(
            "%(name)s is removed and hears of nothing more.",
            name=switching.name_of(gone),
        ),
        "success",
    )
    return redirect(url_for(".index"), 303)


def detail_page(endpoint_id: UUID, replay_form: ReplayForm) -> str:
    """Return the page of an endpoint."""
    session, now = db.session(), utcnow()
    row = queries.endpoint(session, endpoint_id, now)
    endpoint = row.endpoint
    titles = {
        place.podcast_id: place.title
        for place in places(session, endpoint.congregation_id)
    }
    matching = DeliveryMatching(endpoint_id=endpoint_id).as_json()
    asked = Asked(OperationKind.RETRY_DELIVERIES, matching, now)
    return render(
        "webhooks/detail.html",
        row=row,
        n_again=n_meant(session, asked) if may("operator") else 0,
        cap=COUNT_CAP,
        endpoint=endpoint,
        name=switching.name_of(endpoint),
        recent=queries.recent(session, endpoint_id),
        mails=queries.mails(session, endpoint),
        hears=[say(EVENT_TYPES.get(name, name)) for name in endpoint.event_types or ()],
        podcasts=applies_to([titles.get(i, i) for i in endpoint.podcast_ids or ()], 3),
        off=switching.OFF,
        off_at=off_at(endpoint, now) if endpoint.warned_at else None,
        deeds=deeds(session, "endpoint", endpoint),
        rotate_form=RotateForm(formdata=None),
        replay_form=replay_form,
    )


def secret_page(endpoint: Endpoint, secret: str, *, is_new: bool) -> str:
    """Return the page that shows a secret, this once."""
    return render(
        "webhooks/secret.html",
        endpoint=endpoint,
        name=switching.name_of(endpoint),
        secret=secret,
        is_new=is_new,
    )


def config() -> Config:
    """Return the settings of this installation."""
    settings: Config = current_app.config["CARILLON"]
    return settings


def box() -> SecretBox:
    """Return what seals secrets."""
    return SecretBox(config().secret_key)


def _new_form(form: EndpointForm) -> str:
    form.offer(places(db.session()))
    return render("webhooks/form.html", form=form, endpoint=None)


def _edit_form(form: EndpointForm, endpoint: Endpoint) -> str:
    form.offer(places(db.session(), endpoint.congregation_id))
    name = switching.name_of(endpoint)
    return render("webhooks/form.html", form=form, endpoint=endpoint, name=name)
