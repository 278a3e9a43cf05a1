"""The report of a sync as a file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from flask import Response

from dashboard.addresses import queries
from dashboard.addresses.queries import Line
from dashboard.addresses.views import bp
from dashboard.extensions import db

#: What is counted, in the order of the page.
COUNTS: Final = (
    "read",
    "outside",
    "matched",
    "duplicates",
    "created",
    "updated",
    "renamed",
    "found_again",
    "missing",
    "rejected",
    "now_inside",
    "now_outside",
    "seconds",
)


@bp.get("/syncs/<uuid:sync_id>/report.json")
def report_json(sync_id: UUID) -> Response:
    """Give the report as JSON."""
    line = queries.sync(db.session(), sync_id)
    text = json.dumps(_told(line), indent=2, ensure_ascii=False)
    return _file(line, text, "application/json", "json")


@bp.get("/syncs/<uuid:sync_id>/report.csv")
def report_csv(sync_id: UUID) -> Response:
    """Give the report as CSV: what, how many, which lines."""
    line = queries.sync(db.session(), sync_id)
    text = io.StringIO()
    csv.writer(text).writerows(_rows(line))
    return _file(line, "\ufeff" + text.getvalue(), "text/csv", "csv")


def _told(line: Line) -> dict[str, Any]:
    row = line.row
    return {
        "id": str(row.id),
        "congregation": line.congregation.slug,
        "state": row.state.value,
        "requested_by": row.requested_by,
        "requested_at": row.requested_at.isoformat(),
        "ended_at": row.ended_at.isoformat() if row.ended_at else None,
        "data_from": row.data_from.isoformat() if row.data_from else None,
        "error": row.error,
        "report": row.report,
    }


def _rows(line: Line) -> Iterator[tuple[object, ...]]:
    yield ("what", "number", "lines")
    told = _told(line)
    for name in ("state", "data_from", "error"):
        yield (name, _safe(told[name] or ""), "")
    for name in COUNTS:
        if name in line.row.report:
            yield (name, line.row.report[name], "")
    for each in line.row.report.get("files", ()):
        yield (f"rows of {_safe(each['name'])}", each["rows"], each["layout"])
    for each in line.row.report.get("reasons", ()):
        lines = " ".join(str(number) for number in each["lines"])
        yield (f"rejected: {each['reason']}", each["n"], _safe(lines))


def _safe(text: str) -> str:
    """Keep spreadsheets from taking a text for a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text


def _file(line: Line, text: str, kind: str, ending: str) -> Response:
    name = f'attachment; filename="sync-{line.row.id}.{ending}"'
    return Response(
        text,
        content_type=f"{kind}; charset=utf-8",
        headers={"Content-Disposition": name},
    )
