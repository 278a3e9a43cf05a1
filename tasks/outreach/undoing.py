"""Taking an imported list back: what nobody has touched since goes, the rest stays."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.errors import Conflict, NotFound
from tasks.models.contact import Contact, ContactImport
from tasks.models.engagement import Engagement
from tasks.operations.audit import Actor, Subject, record
from tasks.saying import say


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking a list back did."""

    n_contacts: int  # removed
    n_engagements: int  # removed
    n_kept: int  # contacts of the list that somebody has touched since


def undo_import(
    session: Session, import_id: UUID, actor: Actor, *, now: datetime | None = None
) -> Undone:
    """Remove the contacts and engagements that a list made.  Caller commits.

    What was changed, announced or written to since stays, and so does a contact that
    has another engagement.  Contacts that the list only changed stay as they are.

    Raises:
        NotFound: the session sees no such list.
        Conflict: it was taken back already.
    """
    made = session.scalars(
        select(ContactImport).where(ContactImport.id == import_id).with_for_update()
    ).one_or_none()
    if made is None:
        raise NotFound("unknown_import", say("There is no such list of contacts."))
    if made.undone_at is not None:
        raise Conflict("import_undone", say("This list was taken back already."))
    n_engagements = _remove(
        session, Engagement, Engagement.import_id == made.id, Engagement.version == 1
    )
    is_engaged = select(Engagement.id).where(Engagement.contact_id == Contact.id)
    n_contacts = _remove(
        session,
        Contact,
        Contact.import_id == made.id,
        Contact.version == 1,
        ~is_engaged.exists(),
    )
    kept = select(func.count()).select_from(Contact).filter_by(import_id=made.id)
    done = Undone(n_contacts, n_engagements, session.scalar(kept) or 0)
    made.undone_at = now or utcnow()
    made.n_removed = n_contacts
    record(
        session,
        actor,
        "contacts.import_undone",
        Subject("contact_import", str(made.id), made.congregation_id),
        f"Took a list of contacts back: {n_contacts} removed, {done.n_kept} kept",
    )
    session.flush()
    return done


def _remove(session: Session, model: type[Any], *which: Any) -> int:  # noqa: ANN401  # any model and its conditions
    done = session.execute(
        delete(model).where(*which).execution_options(synchronize_session="fetch")
    )
    n: int = done.rowcount  # type: ignore[attr-defined]  # a cursor result
    return n
