"""One map of every state: its word, icon, colour and sentence, for all pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from tasks.saying import meant, say

#: A tone is a colour with a meaning; ``static/css/tokens.css`` has one pair for each.
Tone = Literal["waiting", "active", "good", "warn", "bad", "quiet"]


@dataclass(frozen=True, slots=True)
class Look:
    """How a state looks and what it means; its words are marked for the catalogs."""

    label: str
    icon: str  # a Bootstrap icon; never colour alone
    tone: Tone
    sentence: str


#: Executions, scheduled jobs, attempts, decisions, bookings, episodes, rules, lanes,
#: workers: the same word means the same wherever it stands.
LOOKS: Final[Mapping[str, Look]] = {
    # executions and scheduled jobs, in the order of their lives
    "pending": Look("Pending", "clock", "waiting", "Waits for its time."),
    "running": Look("Running", "play-fill", "active", "A worker is at it now."),
    "retry": Look("Will retry", "arrow-repeat", "warn", "Failed; it is tried again."),
    "dispatched": Look("Dispatched", "send", "good", "Became an execution."),
    "succeeded": Look("Succeeded", "check-lg", "good", "Done."),
    "failed": Look("Failed", "x-lg", "bad", "It is not tried again by itself."),
    "quarantined": Look(
        "Quarantined", "shield-exclamation", "bad", "It took its worker down too often."
    ),
    "cancelled": Look("Cancelled", "slash-circle", "quiet", "Stopped before it ran."),
    "skipped": Look("Skipped", "skip-forward", "quiet", "There was nothing to do."),
    "missed": Look("Missed", "calendar-x", "warn", "It was due too long ago."),
    "superseded": Look("Superseded", "arrow-right", "quiet", "A newer plan took over."),
    # deliveries of webhooks
    "delivered": Look("Delivered", "check-lg", "good", "The other side has it."),
    "sent": Look("Sent", "check-lg", "good", "The mail server has it."),
    # attempts
    "crashed": Look("Crashed", "lightning", "bad", "The worker vanished before it."),
    "unknown": Look("Unknown", "question-lg", "warn", "It may have arrived, or not."),
    "released": Look(
        "Released", "arrow-return-left", "quiet", "The worker gave it back."
    ),
    "deferred": Look("Deferred", "hourglass", "quiet", "It waits for its turn."),
    # documents of a board, and their thumbnails
    "visible": Look("On the board", "eye", "good", "It is seen today."),
    "ends_soon": Look("Ends soon", "hourglass-split", "warn", "Its last day is near."),
    "to_come": Look("To come", "calendar-plus", "waiting", "Its first day is to come."),
    "off_board": Look(
        meant("a document", "Ended"), "eye-slash", "quiet", "Its last day is over."
    ),
    # decisions of rules
    "fired": Look("Fired", "lightning-charge", "good", "An execution came of it."),
    "scheduled": Look(
        meant("a decision", "Scheduled"),
        "calendar-check",
        "waiting",
        "Set for a later time.",
    ),
    "no": Look("No", "dash-lg", "quiet", "Nothing came of it."),
    # bookings and episodes
    "requested": Look("Requested", "inbox", "waiting", "Waits for the host's yes."),
    "confirmed": Look("Confirmed", "check-lg", "good", "Both sides said yes."),
    "declined": Look("Declined", "x-lg", "quiet", "The host said no."),
    "draft": Look("Draft", "pencil", "quiet", "Nobody sees it yet."),
    "published": Look("Published", "megaphone", "good", "It is out."),
    # calls of booking services, feeds, and rows of a list of guests
    "applied": Look("Applied", "check-lg", "good", "A booking was made or changed."),
    "unchanged": Look("Unchanged", "dash-lg", "quiet", "It was known already."),
    "ignored": Look("Ignored", "skip-forward", "quiet", "It changes no booking."),
    "refused": Look("Refused", "slash-circle", "bad", "It cannot be taken."),
    "waiting": Look("Waiting", "clock", "waiting", "The first look is still to come."),
    "following": Look("Following", "check-lg", "good", "It answers well."),
    "failing": Look("Failing", "x-lg", "bad", "It does not answer as it should."),
    "new": Look("New", "plus-lg", "good", "Was not known before."),
    "changed": Look("Changed", "pencil", "active", "Known, with other values."),
    "same": Look("Same", "dash-lg", "quiet", "Known, with these values."),
    "left": Look("Left alone", "skip-forward", "quiet", "Known, and stays as it is."),
    "twice": Look("Twice", "files", "warn", "An earlier row has the same address."),
    "wrong": Look("Wrong", "slash-circle", "bad", "It cannot be taken."),
    # failures by cause
    "acknowledged": Look(
        "Acknowledged", "check2", "quiet", "Somebody took note of it."
    ),
    "recovered": Look(
        "Recovered",
        "heart-pulse",
        "warn",
        "Later ones succeeded; these are still failed.",
    ),
    "retried": Look("Retried", "arrow-repeat", "good", "All of it was queued again."),
    # operations on many rows
    "queued": Look("Queued", "clock", "waiting", "Begins within seconds."),
    "done": Look("Done", "check-lg", "good", "It has come to its end."),
    # members, territories and campaigns
    "here": Look("Here", "person-check", "good", "Belongs to the congregation."),
    "inactive": Look("Inactive", "person-dash", "warn", "Is here, and gets no work."),
    "departed": Look("Left", "door-open", "quiet", "Will be anonymised."),
    "anonymised": Look("Anonymised", "incognito", "quiet", "Nobody knows who it was."),
    "free": Look("Free", "circle", "good", "Can be given out."),
    "out": Look("Out", "person-walking", "active", "Somebody works on it."),
    "overdue": Look("Overdue", "alarm", "bad", "It should have been given back."),
    "halted": Look("Paused", "pause-fill", "waiting", "Held, and not late meanwhile."),
    "resting": Look("Resting", "moon", "quiet", "Somebody worked on it lately."),
    "planned": Look("Planned", "calendar-check", "waiting", "It begins later."),
    "under_way": Look(
        meant("a campaign", "Active"), "megaphone", "active", "It runs now."
    ),
    "ended": Look(
        meant("a campaign", "Ended"), "check-lg", "quiet", "It ran, and is over."
    ),
    # engagements
    "armed": Look("Armed", "alarm", "waiting", "Wakes the agent at its instant."),
    "held": Look(
        "Held back",
        "hourglass-split",
        "waiting",
        "Due; waits for quiet hours to end, or for a day with room below a cap.",
    ),
    "announced": Look("Announced", "bell", "good", "The agent was woken."),
    "passed": Look("Passed", "skip-forward", "quiet", "Its instant woke nobody."),
    "set_aside": Look(
        "Set aside", "exclamation-triangle", "bad", "No event could be made of it."
    ),
    "replied": Look("Replied", "reply", "good", "The contact has answered."),
    "suppressed": Look("Suppressed", "envelope-slash", "warn", "It gets no mails."),
    # rules, lanes, workers, operators, tokens
    "enabled": Look("Enabled", "check-lg", "good", "It takes part."),
    "disabled": Look("Disabled", "pause-fill", "quiet", "It is switched off."),
    "paused": Look("Paused", "pause-fill", "warn", "It takes nothing new."),
    "idle": Look("Idle", "moon", "quiet", "Nothing is due."),
    "late": Look("Late", "hourglass-split", "warn", "Something waits past its time."),
    "draining": Look("Draining", "hourglass-split", "warn", "It finishes and stops."),
    "stopped": Look("Stopped", "stop-fill", "quiet", "It ended as asked."),
    "gone": Look("Gone", "question-lg", "bad", "It fell silent."),
    "active": Look("Active", "check-lg", "good", "It may be used."),
    "invited": Look("Invited", "envelope", "waiting", "Has not set a password yet."),
    "expired": Look("Expired", "hourglass-bottom", "quiet", "Its time is over."),
    "revoked": Look("Revoked", "slash-circle", "quiet", "It was taken back."),
}

#: What the same states are called of things that have another gender in French.
OF: Final[Mapping[str, Mapping[str, str]]] = {
    "endpoint": {
        "enabled": meant("an endpoint", "Enabled"),
        "disabled": meant("an endpoint", "Disabled"),
    },
    "episode": {"scheduled": meant("an episode", "Scheduled")},
    "mail": {"skipped": meant("a mail", "Skipped")},
    "notification": {"sent": meant("a notification", "Sent")},
    "operator": {"disabled": meant("an operator", "Disabled")},
    "transfer": {
        "done": meant("a transfer", "Done"),
        "cancelled": meant("a transfer", "Cancelled"),
    },
}

_UNKNOWN: Final = Look("", "question-lg", "quiet", "")


def look(state: str, of: str = "") -> Look:
    """Return how a state looks, in the present language.

    A word that is not in the map is shown as it is.

    Args:
        of: whose state it is, where OF has another word for that.
    """
    found = LOOKS.get(state)
    if found is None:
        label = state.replace("_", " ").capitalize()
        return replace(_UNKNOWN, label=label)
    label = OF.get(of, {}).get(state, found.label)
    return replace(found, label=say(label), sentence=say(found.sentence))
