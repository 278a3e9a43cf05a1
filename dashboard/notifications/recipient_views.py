"""The pages of recipients: who they are, what they want, and what they will get."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from flask import Response, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from dashboard.extensions import db
from dashboard.notifications import queries, recipients
from dashboard.notifications.filters import RecipientFilter
from dashboard.notifications.views import bp, page_size, shown_html, shown_text
from dashboard.search.views import explains
from dashboard.security import actor
from dashboard.web import render
from tasks.clock import utcnow
from tasks.congregation.notifications.kinds import ANY, CATEGORIES, KINDS, patterns
from tasks.congregation.notifications.preferences import set_preferences
from tasks.errors import InvalidInput, NotFound
from tasks.models import DigestMail
from tasks.models.reason import SENTENCES
from tasks.saying import say

#: What the form sends -> the wish; empty: no wish of its own.
_WISHES: Final = {"": None, "yes": True, "no": False}
#: Mails that the page of one recipient lists.
_RECENT: Final = 10


@bp.get("/recipients")
@explains("recipients")
def recipient_list() -> str:
    """List the accounts, by address."""
    form, cursor = RecipientFilter.read(request.args), request.args.get("cursor")
    wanted = form.conditions(utcnow())
    page = recipients.recipients(db.session(), wanted, cursor, page_size())
    return render("notifications/recipients.html", page=page, form=form)


@bp.get("/recipients/<uuid:account_id>")
def recipient(account_id: UUID) -> str:
    """Show one account: its wishes, what it will get, and what it got."""
    return _page(account_id)


@bp.post("/recipients/<uuid:account_id>/preferences")
def save_preferences(account_id: UUID) -> ResponseReturnValue:
    """Save which mails an account wants."""
    session = db.session()
    recipients.recipient(session, account_id)
    given = {name: request.form[name] for name in patterns() if name in request.form}
    if any(value not in _WISHES for value in given.values()):
        flash(say("Choose one of the answers that are offered."), "warning")
        return _page(account_id), 422
    wanted = {name: _WISHES[value] for name, value in given.items()}
    try:
        account = set_preferences(session, account_id, wanted, actor(), utcnow())
    except NotFound:
        raise
    except InvalidInput as refused:
        session.rollback()
        flash(refused.message, "warning")
        return redirect(url_for(".recipient", account_id=account_id), 303)
    db.session.commit()
    flash(say("Saved what %(email)s wants.", email=account.email), "success")
    return redirect(url_for(".recipient", account_id=account_id), 303)


@bp.get("/recipients/<uuid:account_id>/<category>/html")
def coming_html(account_id: UUID, category: str) -> Response:
    """Return the HTML of what a recipient will get of one category."""
    session = db.session()
    account, _ = recipients.recipient(session, account_id)
    for each in recipients.coming(session, account):
        if each.category == category:
            return shown_html(each.draft.message)
    return shown_html(None)


def _page(account_id: UUID) -> str:
    session = db.session()
    account, of = recipients.recipient(session, account_id)
    wishes = recipients.wishes(session, account_id)
    reason = wishes.why_nothing()
    return render(
        "notifications/recipient.html",
        account=account,
        of=of,
        duties=[*map(recipients.duty_name, recipients.duties_of(session, account_id))],
        wishes=wishes,
        why_nothing=say(SENTENCES[reason]) if reason else "",
        categories=[
            (name, title, [k for k in KINDS.values() if k.category == name])
            for name, title in CATEGORIES.items()
        ],
        any=ANY,
        coming=recipients.coming(session, account),
        shown_text=shown_text,
        page=queries.mails(
            session, [DigestMail.account_id == account_id], None, _RECENT
        ),
    )
