"""The pages of what is told: what waits, the mails, one digest, one mail."""

from __future__ import annotations

from uuid import UUID

from flask import Blueprint, Response, current_app, flash, request
from flask.typing import ResponseReturnValue

from dashboard.back import back
from dashboard.deeds import deeds
from dashboard.extensions import db
from dashboard.mail_frame import mail_frame
from dashboard.notifications import groups, queries, recipients
from dashboard.notifications.filters import MailFilter
from dashboard.search.views import explains
from dashboard.security import actor
from dashboard.web import render
from tasks.automation.actions.base import Message
from tasks.clock import utcnow
from tasks.congregation.notifications import steering
from tasks.congregation.notifications.drafting import sentence_of
from tasks.errors import Conflict, NotFound
from tasks.lane import COUNT_CAP
from tasks.models import Congregation, DigestMail, MailState, OperationKind
from tasks.operations.kinds import Asked
from tasks.operations.many import n_meant
from tasks.outbound.layout import UNSUBSCRIBE, html_of, text_of
from tasks.saying import say, say_many

bp = Blueprint("notifications", __name__, url_prefix="/notifications")


def page_size() -> int:
    """Return how many rows a page has."""
    size: int = current_app.config["CARILLON"].page_size
    return size


def shown_html(message: Message | None) -> Response:
    """Return a mail for its frame, with a link that leads nowhere."""
    if message is None:
        return mail_frame("")
    return mail_frame(html_of(message, UNSUBSCRIBE if message["optional"] else None))


def shown_text(message: Message | None) -> str:
    """Return the text of a mail that is only looked at."""
    return "" if message is None else text_of(message)


@bp.get("/")
@explains("mails")
def index() -> str:
    """List what waits to leave, and the mails, newest first."""
    session, form = db.session(), MailFilter.read(request.args)
    now, cursor = utcnow(), request.args.get("cursor")
    wanted = form.wanted(now)
    return render(
        "notifications/list.html",
        groups=groups.groups(session),
        page=queries.mails(session, wanted, cursor, page_size()),
        form=form,
        states=list(MailState),
        n_failed=queries.n_failed(session),
        n_again=n_meant(
            session, Asked(OperationKind.RETRY_MAILS, form.asked(now), now)
        ),
        cap=COUNT_CAP,
    )


@bp.get("/settling/<slug>/<category>")
def group(slug: str, category: str) -> str:
    """Show what settles of one category."""
    of, items = groups.settling(db.session(), slug, category)
    return render(
        "notifications/group.html",
        of=of,
        category=category,
        title=groups.category_title(category),
        items=items,
    )


@bp.post("/settling/<slug>/<category>/send")
def send_now(slug: str, category: str) -> ResponseReturnValue:
    """Let what settles of one category leave now."""
    session = db.session()
    of = session.query(Congregation).filter_by(slug=slug).one_or_none()
    if of is None:
        raise NotFound("unknown_congregation", say("There is no such congregation."))
    try:
        n = steering.send_now(session, of.id, category, actor(), utcnow())
    except Conflict as refused:
        return _refused(refused)
    db.session.commit()
    said = say_many(
        n,
        "%(n)s of it leaves now, in one mail for each recipient.",
        "%(n)s of it leave now, in one mail for each recipient.",
    )
    flash(said, "success")
    return back(".index")


@bp.get("/digests/<uuid:digest_id>")
def digest(digest_id: UUID) -> str:
    """Show one digest: what it tells, and to whom."""
    session = db.session()
    found, of, items = queries.digest(session, digest_id)
    cursor = request.args.get("cursor")
    return render(
        "notifications/digest.html",
        digest=found,
        of=of,
        title=groups.category_title(found.category),
        items=items,
        page=queries.mails(
            session, [DigestMail.digest_id == digest_id], cursor, page_size()
        ),
    )


@bp.get("/mails/<uuid:mail_id>")
def mail(mail_id: UUID) -> str:
    """Show one mail: what is in it, what was left out, and how it fared."""
    session = db.session()
    row = queries.mail(session, mail_id)
    draft = recipients.draft_of(session, row.mail)
    return render(
        "notifications/mail.html",
        row=row,
        mail=row.mail,
        items=queries.items_of(session, mail_id),
        draft=draft,
        why_not=sentence_of(draft),
        text=shown_text(draft.message),
        deeds=deeds(session, "digest_mail", row.mail),
    )


@bp.get("/mails/<uuid:mail_id>/html")
def html(mail_id: UUID) -> Response:
    """Return the mail's HTML for the frame on its page."""
    session = db.session()
    draft = recipients.draft_of(session, queries.mail(session, mail_id).mail)
    return shown_html(draft.message)


@bp.post("/mails/<uuid:mail_id>/retry")
def retry(mail_id: UUID) -> ResponseReturnValue:
    """Try one failed mail again."""
    try:
        steering.retry(db.session(), mail_id, actor(), utcnow())
    except Conflict as refused:
        return _refused(refused)
    db.session.commit()
    flash(say("It is tried again."), "success")
    return back(".mail", mail_id=mail_id)


def _refused(refused: Conflict) -> ResponseReturnValue:
    db.session.rollback()
    flash(refused.message, "warning")
    return back(".index")
