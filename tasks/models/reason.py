"""Why something ended as it did: a word for machines, a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from tasks.saying import mark


class Reason(StrEnum):
    """The reason codes of executions, scheduled jobs and decisions."""

    RULE_DISABLED = "rule_disabled"
    RULE_DELETED = "rule_deleted"
    RULE_CHANGED = "rule_changed"
    STEP_REMOVED = "step_removed"
    OUT_OF_SCOPE = "out_of_scope"
    BOOKING_CANCELLED = "booking_cancelled"
    BOOKING_GONE = "booking_gone"
    NOT_CONFIRMED = "not_confirmed"
    NOT_PUBLISHED = "not_published"
    CONDITION_FALSE = "condition_false"
    NO_REFERENCE_DATE = "no_reference_date"
    OFFSET_IN_PAST = "offset_in_past"
    TOO_LATE = "too_late"
    QUIET_HOURS = "quiet_hours"
    WRONG_SIDE = "wrong_side"
    SUPPRESSED = "suppressed"
    NO_RECIPIENT = "no_recipient"
    MISSING_VARIABLE = "missing_variable"
    BAD_MESSAGE = "bad_message"
    DUPLICATE = "duplicate"
    LOOP_GUARD = "loop_guard"
    SUPERSEDED = "superseded"
    OPERATOR = "operator"
    PRODUCER = "producer"
    REFUSED = "refused"
    ATTEMPTS_USED_UP = "attempts_used_up"
    WORKER_CRASHES = "worker_crashes"
    BLOCKED_ADDRESS = "blocked_address"
    ENDPOINT_DISABLED = "endpoint_disabled"
    ENDPOINT_DELETED = "endpoint_deleted"
    UNDONE = "undone"
    HELD = "held"
    OPTED_OUT = "opted_out"
    NO_CONSENT = "no_consent"
    ACCOUNT_CLOSED = "account_closed"
    ENTITY_GONE = "entity_gone"


_R = Reason

#: What the console says; every Reason has its sentence (a test counts them).
SENTENCES: Final[Mapping[Reason, str]] = {
    _R.RULE_DISABLED: mark("The rule is switched off."),
    _R.RULE_DELETED: mark("The rule was deleted."),
    _R.RULE_CHANGED: mark("The rule was changed, so its jobs were planned anew."),
    _R.STEP_REMOVED: mark("The step was taken out of its rule."),
    _R.OUT_OF_SCOPE: mark("The rule belongs to another podcast."),
    _R.BOOKING_CANCELLED: mark("The booking was cancelled."),
    _R.BOOKING_GONE: mark("The booking or episode no longer exists."),
    _R.NOT_CONFIRMED: mark("The booking is not confirmed."),
    _R.NOT_PUBLISHED: mark("The episode is not published or scheduled."),
    _R.CONDITION_FALSE: mark("A condition of the rule was not met."),
    _R.NO_REFERENCE_DATE: mark("The date that the rule counts from is not known yet."),
    _R.OFFSET_IN_PAST: mark(
        "The time to do this had already passed when it was planned."
    ),
    _R.TOO_LATE: mark("It was due too long ago to still be of help."),
    _R.QUIET_HOURS: mark("Its moment lay in the quiet hours of the recipient."),
    _R.WRONG_SIDE: mark(
        "On that day the rule's hour lies on the wrong side of the date."
    ),
    _R.SUPPRESSED: mark("The address is on the list of those that get no mails."),
    _R.NO_RECIPIENT: mark("There is no address to send this to."),
    _R.MISSING_VARIABLE: mark("A value that the message needs is missing."),
    _R.BAD_MESSAGE: mark("The message could not be made from its template."),
    _R.DUPLICATE: mark("The same thing was already asked for."),
    _R.LOOP_GUARD: mark("Rules kept triggering each other, so this was stopped."),
    _R.SUPERSEDED: mark(
        "A newer plan, or a later reminder of the same, took its place."
    ),
    _R.OPERATOR: mark("An operator stopped it."),
    _R.PRODUCER: mark("The application that asked for it took it back."),
    _R.REFUSED: mark("The other side refused it for good."),
    _R.ATTEMPTS_USED_UP: mark("Every attempt failed."),
    _R.WORKER_CRASHES: mark(
        "It took its worker down three times, so it is not tried again."
    ),
    _R.BLOCKED_ADDRESS: mark("The address is private or not allowed."),
    _R.ENDPOINT_DISABLED: mark("The endpoint is switched off."),
    _R.ENDPOINT_DELETED: mark("The endpoint was removed."),
    _R.HELD: mark("It is held: nothing of this kind leaves until somebody lets it go."),
    _R.UNDONE: mark("What it tells was undone before it left."),
    _R.OPTED_OUT: mark("The recipient chose not to have mails of this kind."),
    _R.NO_CONSENT: mark("The recipient took back the consent to have mails."),
    _R.ACCOUNT_CLOSED: mark("The recipient's account is closed."),
    _R.ENTITY_GONE: mark("What it tells about is no longer there, or no longer so."),
}
