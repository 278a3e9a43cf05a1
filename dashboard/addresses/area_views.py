"""Where a congregation is: postal codes, communes, perimeter."""

from __future__ import annotations

import json
from typing import Any, Final

from flask import Response, abort, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.addresses import queries
from dashboard.addresses.forms import AreaForm, version_of
from dashboard.addresses.views import bp, config
from dashboard.extensions import db
from dashboard.security import actor
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.addresses import areas
from tasks.congregation.addresses.perimeters import (
    GEOJSON_MAX,
    area_km2,
    outline,
)
from tasks.errors import InvalidInput
from tasks.models import Congregation
from tasks.outbound.download import check_source
from tasks.outbound.guard import UrlRules
from tasks.saying import say
from tasks.saying.formats import decimal

#: Congregations that the page of all areas lists.
LIST_MAX: Final = 500
#: The longer side of the drawing.
_SIZE: Final = 480.0
_MARGIN: Final = 6.0


@bp.get("/areas")
def area_list() -> str:
    """List which congregation wants which addresses."""
    rows = queries.areas(db.session(), LIST_MAX)
    return render("addresses/areas.html", rows=rows)


@bp.get("/areas/<slug>")
def area(slug: str) -> str:
    """Show which addresses a congregation wants, and its perimeter."""
    found = queries.congregation(db.session(), slug)
    form = AreaForm()
    form.fill(areas.get_area(db.session(), found.id))
    return _page(found, form)


@bp.post("/areas/<slug>")
def save_area(slug: str) -> ResponseReturnValue:
    """Keep which addresses are wanted."""
    found = queries.congregation(db.session(), slug)
    form = AreaForm()
    rules = UrlRules.of(config())
    try:
        areas.save_area(
            db.session(),
            found.id,
            form.change(),
            actor(),
            now=utcnow(),
            check_url=lambda url: check_source(url, config().open_data_hosts, rules),
        )
    except InvalidInput as refused:
        db.session.rollback()
        form.refuse(refused)
        return _page(found, form), 422
    db.session.commit()
    flash(say("Saved; the next sync reads these."), "success")
    return redirect(url_for(".area", slug=slug), 303)


@bp.post("/areas/<slug>/perimeter")
def save_perimeter(slug: str) -> ResponseReturnValue:
    """Keep a perimeter, and look at every address."""
    found = queries.congregation(db.session(), slug)
    try:
        text = _perimeter()
        sync = areas.save_perimeter(
            db.session(),
            found.id,
            text,
            version_of(request.form.get("version")),
            actor(),
            now=utcnow(),
        )
    except InvalidInput as refused:
        db.session.rollback()
        form = AreaForm(formdata=None)
        form.fill(areas.get_area(db.session(), found.id))
        given = request.form.get("perimeter", "")
        return _page(found, form, refused=refused.message, given=given), 422
    db.session.commit()
    flash(say("Saved; every address is looked at now."), "success")
    return redirect(url_for(".sync", sync_id=sync.id), 303)


@bp.get("/areas/<slug>/perimeter.svg")
def perimeter_svg(slug: str) -> Response:
    """Draw the perimeter, in the colours of the page that shows it."""
    found = queries.congregation(db.session(), slug)
    geometry = areas.get_area(db.session(), found.id).perimeter
    if geometry is None:
        abort(404, say("There is no perimeter."))
    path, width, height = outline(geometry, _SIZE)
    box = f"{-_MARGIN} {-_MARGIN} {width + 2 * _MARGIN:.0f} {height + 2 * _MARGIN:.0f}"
    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">'
        f'<path d="{path}" fill="#0b6e75" fill-opacity=".18" fill-rule="evenodd" '
        'stroke="#1d8f97" stroke-width="2" stroke-linejoin="round"/></svg>'
    )
    return Response(drawing, mimetype="image/svg+xml")


@bp.get("/areas/<slug>/perimeter.geojson")
def perimeter_geojson(slug: str) -> Response:
    """Give the perimeter as a file."""
    found = queries.congregation(db.session(), slug)
    geometry = areas.get_area(db.session(), found.id).perimeter
    if geometry is None:
        abort(404, say("There is no perimeter."))
    name = f'attachment; filename="perimeter-{slug}.geojson"'
    return Response(
        json.dumps(geometry),
        mimetype="application/geo+json",
        headers={"Content-Disposition": name},
    )


def _perimeter() -> str:
    """Return what was uploaded, else what was pasted; empty: take it away.

    Raises:
        InvalidInput: neither was given, or the file is no text.
    """
    if "remove" in request.form:
        return ""
    file = request.files.get("file")
    if file is not None and file.filename:
        with file.stream as stream:  # a large one is a file on the disk
            data = stream.read(GEOJSON_MAX + 1)
        try:
            return data.decode("utf-8-sig") or " {}"
        except UnicodeDecodeError as error:
            raise InvalidInput(
                "not_utf8", say("The file is no text in UTF-8."), field="perimeter"
            ) from error
    if text := request.form.get("perimeter", "").strip():
        return text
    raise InvalidInput(
        "required", say("Paste the perimeter, or choose its file."), field="perimeter"
    )


def _km2(geometry: dict[str, Any]) -> str:
    km2 = area_km2(geometry)
    return decimal(km2, 1 if km2 < 100 else 0)


def _page(
    congregation: Congregation, form: AreaForm, *, refused: str = "", given: str = ""
) -> str:
    row = areas.get_area(db.session(), congregation.id)
    geometry = row.perimeter
    return render(
        "addresses/area.html",
        congregation=congregation,
        area=row,
        form=form,
        refused=refused,
        given=given,
        km2=_km2(geometry) if geometry else None,
    )
