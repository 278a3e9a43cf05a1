"""New secrets of endpoints, shown once."""

from __future__ import annotations

from uuid import UUID

from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.security import actor, require
from dashboard.webhooks.forms import RotateForm
from dashboard.webhooks.views import box, bp, secret_page
from tasks.clock import utcnow
from tasks.webhooks.rotating import rotate_secret


@bp.post("/<uuid:endpoint_id>/secret")
@require("admin")
def rotate(endpoint_id: UUID) -> ResponseReturnValue:
    """Make a new secret and show it, this once."""
    endpoint, secret = rotate_secret(
        db.session(),
        endpoint_id,
        actor(),
        box=box(),
        now=utcnow(),
        keep_former=RotateForm().keeps_former,
    )
    page = secret_page(endpoint, secret, is_new=False)
    db.session.commit()
    return page
