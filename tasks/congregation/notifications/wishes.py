"""Who wants which mails: preferences, consents and suppressions, read for many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.automation.suppressed import reasons_of
from tasks.bulk import among
from tasks.congregation.notifications.kind import Kind
from tasks.congregation.notifications.kinds import ANY
from tasks.models.member import Account, Consent
from tasks.models.notification import NotificationPreference
from tasks.models.reason import Reason
from tasks.models.suppression import STOPS_EVERYTHING, SuppressionReason
from tasks.outbound.mailboxes import BadAddress, normal_address

#: The consent that mails need, once it was ever given.
MAILS: Final = "email"


def is_wanted(preferences: Mapping[str, bool], kind: Kind) -> bool:
    """Whether preferences allow a type: its own, else its category's, else yes."""
    of_category = preferences.get(kind.category + ANY, True)
    return preferences.get(kind.type, of_category)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What one account wants, as it stands now."""

    account: Account
    preferences: Mapping[str, bool] = field(default_factory=dict)
    has_withdrawn: bool = False  # the consent to have mails at all
    suppressed: SuppressionReason | None = None

    def why_nothing(self) -> Reason | None:
        """Return why this account gets no mail at all; ``None``: it may."""
        if not self.account.is_active or self.account.anonymised_at is not None:
            return Reason.ACCOUNT_CLOSED
        if self.has_withdrawn:
            return Reason.NO_CONSENT
        if self.suppressed in STOPS_EVERYTHING:
            return Reason.SUPPRESSED
        return None

    def why_not(self, kind: Kind) -> Reason | None:
        """Return why this account does not get a type; ``None``: it does."""
        if (reason := self.why_nothing()) is not None or kind.transactional:
            return reason
        if self.suppressed is not None:
            return Reason.SUPPRESSED
        return None if is_wanted(self.preferences, kind) else Reason.OPTED_OUT


def wishes_of(session: Session, accounts: Sequence[UUID]) -> Mapping[UUID, Wishes]:
    """Return the wishes of accounts, in four queries; those that are gone have none."""
    found = session.scalars(
        select(Account)
        .where(among(session, Account.id, accounts))
        .execution_options(populate_existing=True)
    ).all()
    preferences = _preferences(session, accounts)
    withdrawn = _withdrawn(session, {row.member_id for row in found if row.member_id})
    addresses = {row.id: _address(row) for row in found}
    known = [(row.congregation_id, a) for row in found if (a := addresses[row.id])]
    reasons = reasons_of(session, known) if known else {}
    return {
        row.id: Wishes(
            row,
            preferences.get(row.id, {}),
            row.member_id in withdrawn,
            reasons.get((row.congregation_id, addresses[row.id] or "")),
        )
        for row in found
    }


def _address(account: Account) -> str | None:
    try:
        return normal_address(account.email)
    except BadAddress:
        return None  # the mail says so


def _preferences(
    session: Session, accounts: Sequence[UUID]
) -> Mapping[UUID, Mapping[str, bool]]:
    found: defaultdict[UUID, dict[str, bool]] = defaultdict(dict)
    rows = session.scalars(
        select(NotificationPreference).where(
            among(session, NotificationPreference.account_id, accounts)
        )
    )
    for row in rows:
        found[row.account_id][row.pattern] = row.enabled
    return found


def _withdrawn(session: Session, members: Iterable[UUID]) -> set[UUID]:
    """Return the members whose latest consent to mails was taken back."""
    rows = session.execute(
        select(Consent.member_id, Consent.withdrawn_at)
        .where(among(session, Consent.member_id, list(members)), Consent.kind == MAILS)
        .order_by(Consent.given_at, Consent.id)
    )
    latest = {row.member_id: row.withdrawn_at for row in rows}
    return {member_id for member_id, at in latest.items() if at is not None}
