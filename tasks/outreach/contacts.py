"""Contacts: made known, changed, removed.  Every function leaves the commit to us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.fields import checked
from tasks.automation.scope import known_congregation
from tasks.clock import utcnow
from tasks.errors import NotFound
from tasks.models.base import new_id
from tasks.models.contact import Contact, ContactSource
from tasks.outreach.checks import CONTACT, checked_address
from tasks.outreach.ensuring import ensure
from tasks.outreach.versions import Expected, check_version
from tasks.saying import say


@dataclass(frozen=True, slots=True)
class SavedContact:
    """A contact after it was saved."""

    row: Contact
    created: bool
    changed: bool  # false: it was so already


def save_contact(
    session: Session,
    congregation_id: UUID,
    address: str,
    values: Mapping[str, object],
    *,
    source: ContactSource = ContactSource.API,
    expected: Expected | None = None,
    now: datetime | None = None,
) -> SavedContact:
    """Create or change a contact; what ``values`` leaves out stays as it is.

    Args:
        values: ``display_name`` and ``metadata``; ``None`` clears.
        expected: versions that the caller has read; None: whatever there is.

    Raises:
        InvalidInput: the address or a value cannot be accepted.
        Conflict: ``version_mismatch``, somebody else has changed it since.
    """
    at = now or utcnow()
    normal = checked_address(address, "address")
    clean = checked(values, CONTACT)
    known = locked_contact(session, congregation_id, normal)
    check_version(known.version if known else None, expected)
    row, created = contact_of(session, congregation_id, normal, source, at)
    changed = apply_values(row, clean)
    if changed and not created:
        row.version += 1
        row.updated_at = at
    session.flush()
    return SavedContact(row, created, changed or created)


def apply_values(row: Contact, clean: Mapping[str, object]) -> bool:
    """Write checked values into a contact; returns whether any was another."""
    changed = False
    for name, value in clean.items():
        attribute = "details" if name == "metadata" else name
        if getattr(row, attribute) != value:
            setattr(row, attribute, value)
            changed = True
    return changed


def contact_of(
    session: Session,
    congregation_id: UUID,
    address: str,
    source: ContactSource,
    now: datetime,
) -> tuple[Contact, bool]:
    """Return the contact with a normalised address, locked, and whether it is new.

    Raises:
        NotFound: there is no such congregation.
    """
    found = locked_contact(session, congregation_id, address)
    if found is not None:
        return found, False
    known_congregation(session, congregation_id)
    row = Contact(**contact_values(congregation_id, address, source, now))
    return ensure(
        session, row, lambda: locked_contact(session, congregation_id, address)
    )


def contact_values(
    congregation_id: UUID,
    address: str,
    source: ContactSource,
    now: datetime,
    *,
    import_id: UUID | None = None,
) -> dict[str, Any]:
    """Return what a new contact is made of, by attribute."""
    return {
        "id": new_id(),
        "congregation_id": congregation_id,
        "address": address,
        "display_name": "",
        "details": {},
        "source": source,
        "import_id": import_id,
        "version": 1,
        "created_at": now,
        "updated_at": now,
    }


def locked_contact(
    session: Session, congregation_id: UUID, address: str
) -> Contact | None:
    """Return a contact by its normalised address and lock it, if there is one."""
    return session.scalars(
        select(Contact)
        .where(Contact.congregation_id == congregation_id, Contact.address == address)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one_or_none()


def remove_contact(
    session: Session,
    congregation_id: UUID,
    address: str,
    *,
    expected: Expected | None = None,
) -> Contact:
    """Remove a contact and its engagements; suppressions of the address stay.

    Raises:
        NotFound: the session sees no such contact.
        Conflict: ``version_mismatch``, somebody else has changed it since.
    """
    row = locked_contact(session, congregation_id, checked_address(address, "address"))
    check_version(row.version if row else None, expected)
    if row is None:
        raise unknown_contact()
    session.delete(row)
    session.flush()
    return row


def unknown_contact() -> NotFound:
    """Return the refusal of a contact that is not there."""
    return NotFound("unknown_contact", say("There is no contact with this address."))
