"""One map of every state: its word, icon, colour and sentence, for all pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

#: A tone is a colour with a meaning; ``static/css/tokens.css`` has one pair for each.
Tone = Literal["waiting", "active", "good", "warn", "bad", "quiet"]


@dataclass(frozen=True, slots=True)
class StateLook:
    """How a state looks and what it means."""

    label: str
    icon: str  # a Bootstrap icon; never colour alone
    tone: Tone
    sentence: str


_L = StateLook

#: Executions, scheduled jobs, attempts, decisions, bookings, episodes, rules, lanes,
#: workers: the same word means the same wherever it stands.
LOOKS: Final[Mapping[str, StateLook]] = {
    # executions and scheduled jobs, in the order of their lives
    "pending": _L("Pending", "clock", "waiting", "Waits for its time."),
    "running": _L("Running", "play-fill", "active", "A worker is at it now."),
    "retry": _L("Will retry", "arrow-repeat", "warn", "Failed; it is tried again."),
    "dispatched": _L("Dispatched", "send", "good", "Became an execution."),
    "succeeded": _L("Succeeded", "check-lg", "good", "Done."),
    "failed": _L("Failed", "x-lg", "bad", "It is not tried again by itself."),
    "quarantined": _L(
        "Quarantined", "shield-exclamation", "bad", "It took its worker down too often."
    ),
    "cancelled": _L("Cancelled", "slash-circle", "quiet", "Stopped before it ran."),
    "skipped": _L("Skipped", "skip-forward", "quiet", "There was nothing to do."),
    "missed": _L("Missed", "calendar-x", "warn", "It was due too long ago."),
    "superseded": _L("Superseded", "arrow-right", "quiet", "A newer plan took over."),
    # deliveries of webhooks
    "delivered": _L("Delivered", "check-lg", "good", "The other side has it."),
    "sent": _L("Sent", "check-lg", "good", "The mail server has it."),
    # attempts
    "crashed": _L("Crashed", "lightning", "bad", "The worker vanished before it."),
    "unknown": _L("Unknown", "question-lg", "warn", "It may have arrived, or not."),
    "released": _L(
        "Released", "arrow-return-left", "quiet", "The worker gave it back."
    ),
    "deferred": _L("Deferred", "hourglass", "quiet", "It waits for its turn."),
    # documents of a board, and their thumbnails
    "visible": _L("On the board", "eye", "good", "It is seen today."),
    "ends_soon": _L("Ends soon", "hourglass-split", "warn", "Its last day is near."),
    "to_come": _L("To come", "calendar-plus", "waiting", "Its first day is to come."),
    "off_board": _L("Ended", "eye-slash", "quiet", "Its last day is over."),
    # decisions of rules
    "fired": _L("Fired", "lightning-charge", "good", "An execution came of it."),
    "scheduled": _L("Scheduled", "calendar-check", "waiting", "Set for a later time."),
    "no": _L("No", "dash-lg", "quiet", "Nothing came of it."),
    # bookings and episodes
    "requested": _L("Requested", "inbox", "waiting", "Waits for the host's yes."),
    "confirmed": _L("Confirmed", "check-lg", "good", "Both sides said yes."),
    "declined": _L("Declined", "x-lg", "quiet", "The host said no."),
    "draft": _L("Draft", "pencil", "quiet", "Nobody sees it yet."),
    "published": _L("Published", "megaphone", "good", "It is out."),
    # calls of booking services, feeds, and rows of a list of guests
    "applied": _L("Applied", "check-lg", "good", "A booking was made or changed."),
    "unchanged": _L("Unchanged", "dash-lg", "quiet", "It was known already."),
    "ignored": _L("Ignored", "skip-forward", "quiet", "It changes no booking."),
    "refused": _L("Refused", "slash-circle", "bad", "It cannot be taken."),
    "waiting": _L("Waiting", "clock", "waiting", "The first look is still to come."),
    "following": _L("Following", "check-lg", "good", "It answers well."),
    "failing": _L("Failing", "x-lg", "bad", "It does not answer as it should."),
    "new": _L("New", "plus-lg", "good", "Was not known before."),
    "changed": _L("Changed", "pencil", "active", "Known, with other values."),
    "same": _L("Same", "dash-lg", "quiet", "Known, with these values."),
    "left": _L("Left alone", "skip-forward", "quiet", "Known, and stays as it is."),
    "twice": _L("Twice", "files", "warn", "An earlier row has the same address."),
    "wrong": _L("Wrong", "slash-circle", "bad", "It cannot be taken."),
    # failures by cause
    "acknowledged": _L("Acknowledged", "check2", "quiet", "Somebody took note of it."),
    "recovered": _L(
        "Recovered",
        "heart-pulse",
        "warn",
        "Later ones succeeded; these are still failed.",
    ),
    "retried": _L("Retried", "arrow-repeat", "good", "All of it was queued again."),
    # operations on many rows
    "queued": _L("Queued", "clock", "waiting", "Begins within seconds."),
    "done": _L("Done", "check-lg", "good", "It has come to its end."),
    # members, territories and campaigns
    "here": _L("Here", "person-check", "good", "Belongs to the congregation."),
    "inactive": _L("Inactive", "person-dash", "warn", "Is here, and gets no work."),
    "departed": _L("Left", "door-open", "quiet", "Will be anonymised."),
    "anonymised": _L("Anonymised", "incognito", "quiet", "Nobody knows who it was."),
    "free": _L("Free", "circle", "good", "Can be given out."),
    "out": _L("Out", "person-walking", "active", "Somebody works on it."),
    "overdue": _L("Overdue", "alarm", "bad", "It should have been given back."),
    "halted": _L("Paused", "pause-fill", "waiting", "Held, and not late meanwhile."),
    "resting": _L("Resting", "moon", "quiet", "Somebody worked on it lately."),
    "planned": _L("Planned", "calendar-check", "waiting", "It begins later."),
    "under_way": _L("Active", "megaphone", "active", "It runs now."),
    "ended": _L("Ended", "check-lg", "quiet", "It ran, and is over."),
    # engagements
    "armed": _L("Armed", "alarm", "waiting", "Wakes the agent at its instant."),
    "held": _L(
        "Held back",
        "hourglass-split",
        "waiting",
        "Due; waits for quiet hours to end, or for a day with room below a cap.",
    ),
    "announced": _L("Announced", "bell", "good", "The agent was woken."),
    "passed": _L("Passed", "skip-forward", "quiet", "Its instant woke nobody."),
    "set_aside": _L(
        "Set aside", "exclamation-triangle", "bad", "No event could be made of it."
    ),
    "replied": _L("Replied", "reply", "good", "The contact has answered."),
    "suppressed": _L("Suppressed", "envelope-slash", "warn", "It gets no mails."),
    # rules, lanes, workers, operators, tokens
    "enabled": _L("Enabled", "check-lg", "good", "It takes part."),
    "disabled": _L("Disabled", "pause-fill", "quiet", "It is switched off."),
    "paused": _L("Paused", "pause-fill", "warn", "It takes nothing new."),
    "idle": _L("Idle", "moon", "quiet", "Nothing is due."),
    "late": _L("Late", "hourglass-split", "warn", "Something waits past its time."),
    "draining": _L("Draining", "hourglass-split", "warn", "It finishes and stops."),
    "stopped": _L("Stopped", "stop-fill", "quiet", "It ended as asked."),
    "gone": _L("Gone", "question-lg", "bad", "It fell silent."),
    "active": _L("Active", "check-lg", "good", "It may be used."),
    "invited": _L("Invited", "envelope", "waiting", "Has not set a password yet."),
    "expired": _L("Expired", "hourglass-bottom", "quiet", "Its time is over."),
    "revoked": _L("Revoked", "slash-circle", "quiet", "It was taken back."),
}

_UNKNOWN: Final = StateLook("?", "question-lg", "quiet", "")


def look(state: str) -> StateLook:
    """Return how a state looks; a word that is not in the map is shown as it is."""
    found = LOOKS.get(state)
    if found is None:
        label = state.replace("_", " ").capitalize()
        return StateLook(label, _UNKNOWN.icon, _UNKNOWN.tone, "")
    return found
