"""Which rows a house has in which table, as formulas of their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from bench.crowd import N_TENANTS, Copies, Words, number_within, of_same

#: Rows of each kind that do not become more with the executions.
N_RULES: Final = 12 * N_TENANTS
N_GROUPS: Final = 30 * N_TENANTS
#: Executions of one booking, one after the other.
PER_BOOKING: Final = 20
#: Of each congregation's executions one in so many fails.
FAILS_ONE_IN: Final = 50
#: The rule with the number 0 has most executions, the last one but few.
_RULE_OF: Final = (
    "CASE WHEN {own} % 10 < 6 THEN 0 WHEN {own} % 10 < 9 THEN 1 + {own} / 10 % 6"
    " WHEN {own} % 1000 = 9 THEN 11 ELSE 7 + {own} / 10 % 4 END"
)
_CAUSE: Final = (
    "'Mail server ' || ({n} % 30) || ' refused: 550 no such mailbox, or it is full'"
)


def counts(n: int) -> Mapping[str, int]:
    """Return how many rows of each kind come with ``n`` executions."""
    few = max(n // 50, 100)
    return {
        "event": n // 2,
        "execution": n,
        "job": n // 5,
        "delivery": n // 5,
        "rule": N_RULES,
        "group": N_GROUPS,
        "decision": n,
        "audit": few,
        "operation": 2_000,
        "contact": few,
        "engagement": few,
        "digest": few,
        "mail": few,
        "notification": few,
        "run": few,
    }


def tables(of: Words) -> Iterator[Copies]:
    """Yield the tables in the order in which they are filled."""
    yield from _people(of)
    yield from _work(of)
    yield from _failures(of)
    yield from _deliveries(of)
    yield from _office(of)


def _people(of: Words) -> Iterator[Copies]:
    own = number_within("i")
    yield Copies(
        "rules",
        N_RULES,
        {
            "id": of.id("rule", "i"),
            "name": f"'Rule ' || {own}",
            "created_at": of.at("rule", "0"),
        },
    )
    version = {"rule_id": of.id("rule", "i"), "version": "1"}
    yield Copies("rule_versions", N_RULES, version)
    bookings = of.counts["execution"] // PER_BOOKING
    yield Copies(
        "bookings",
        bookings,
        {
            "id": f"'c' || {own}",
            "guest_name": f"'Guest ' || {own}",
            "guest_email": f"'guest' || {own} || '@example.org'",
            "start_time": of.ahead(f"(i - {bookings} * 9 / 10) * 129600 / {bookings}"),
        },
    )


def _work(of: Words) -> Iterator[Copies]:
    own = number_within("i")
    event = {name: of.at("event", "i") for name in ("occurred_at", "created_at")}
    event |= {"id": of.id("event", "i"), "external_id": "'bench-' || i"}
    event |= {"booking_id": _booking(f"({own} * 2)"), "episode_id": "NULL"}
    # Few events name a guest besides the booking.
    event |= {"guest_id": f"CASE {own} % 500 WHEN 0 THEN e.guest_id ELSE NULL END"}
    yield Copies("events", of.counts["event"], event)
    yield Copies("executions", of.counts["execution"], _execution(of))
    attempt = {"execution_id": of.id("execution", "i"), "outcome": _attempt_state(own)}
    attempt |= {"started_at": of.at("execution", "i", "2"), "response": "NULL"}
    attempt |= {"finished_at": of.at("execution", "i", "3")}
    yield Copies("attempts", of.counts["execution"], attempt)
    message = {"execution_id": of.id("execution", "i")}
    yield Copies("execution_messages", of.counts["execution"], message)
    decision = {"id": of.id("decision", "i"), "rule_id": _rule(of, own)}
    decision |= {"event_id": of.id("event", of_same(f"{own} / 2"))}
    decision |= {"execution_id": of.id("execution", "i")}
    decision |= {"created_at": of.at("decision", "i")}
    yield Copies("decisions", of.counts["decision"], decision)
    yield Copies("scheduled_jobs", of.counts["job"], _job(of))


def _booking(own: str) -> str:
    return f"'c' || ({own} / {PER_BOOKING})"


def _rule(of: Words, own: str) -> str:
    return of.id("rule", of_same(f"({_RULE_OF.format(own=own)})"))


def _attempt_state(own: str) -> str:
    return f"CASE {own} % {FAILS_ONE_IN} WHEN 0 THEN 'failed' ELSE 'succeeded' END"


def _execution(of: Words) -> Mapping[str, str]:
    own = number_within("i")
    is_pending = f"{own} % 200 = 3"
    of_job = f"{own} % 5 = 0"
    at = of.at("execution", "i")
    return {
        "id": of.id("execution", "i"),
        "rule_id": _rule(of, own),
        "event_id": f"CASE WHEN {of_job} THEN NULL ELSE "
        f"{of.id('event', of_same(f'{own} / 2'))} END",
        "scheduled_job_id": f"CASE WHEN {of_job} THEN "
        f"{of.id('job', of_same(f'{own} / 5'))} ELSE NULL END",
        "booking_id": _booking(own),
        "recipient": f"'guest' || ({own} / {PER_BOOKING}) || '@example.org'",
        "idempotency_key": "'00000000-0000-7000-8000-000000000000:booking.confirmed:'"
        " || 'show:::2026-03-10:' || i",
        "state": f"CASE WHEN {is_pending} THEN 'pending' WHEN {own} % 50 = 1 THEN"
        f" 'skipped' WHEN {own} % 100 = 2 THEN 'cancelled' WHEN {own} % 1000 = 5"
        f" THEN 'quarantined' WHEN {own} % {FAILS_ONE_IN} = 0 THEN 'failed'"
        " ELSE 'succeeded' END",
        "run_at": f"CASE WHEN {is_pending} THEN "
        f"{of.ahead(f'{own} / 200 % 2000 - 500')} ELSE {at} END",
        "due_at": at,
        "created_at": at,
        "claimed_at": of.at("execution", "i", "2"),
        "settled_at": f"CASE WHEN {is_pending} THEN NULL ELSE "
        f"{of.at('execution', 'i', '3')} END",
        "attempt": f"CASE WHEN {is_pending} THEN 0 ELSE 1 END",
        "error": f"CASE WHEN {own} % {FAILS_ONE_IN} = 0 THEN "
        f"{_CAUSE.format(n=f'({own} / {FAILS_ONE_IN})')} ELSE NULL END",
    }


def _job(of: Words) -> Mapping[str, str]:
    own = number_within("i")
    due = of.ahead(f"{own} / 20 % 14400 - 20")
    return {
        "id": of.id("job", "i"),
        "rule_id": of.id("rule", of_same(f"({own} % 5)")),
        "idempotency_key": "'time_trigger:00000000-0000-7000-8000-000000000000:' || i",
        "booking_id": _booking(f"({own} * 5)"),
        "state": f"CASE {own} % 20 WHEN 0 THEN 'cancelled' WHEN 1 THEN 'pending'"
        " WHEN 2 THEN 'skipped' ELSE 'dispatched' END",
        **{
            name: f"CASE {own} % 20 WHEN 1 THEN {due} ELSE {of.at('job', 'i')} END"
            for name in ("due_at", "run_at")
        },
        "reference_at": of.at("job", "i", "86400"),
        "execution_id": of.id("execution", of_same(f"{own} * 5")),
        "created_at": of.at("job", "i"),
        "settled_at": f"CASE {own} % 20 WHEN 1 THEN NULL ELSE {of.at('job', 'i')} END",
    }


def _failures(of: Words) -> Iterator[Copies]:
    own = number_within("i")
    group = {"id": of.id("group", "i"), "cause": _CAUSE.format(n=own)}
    group |= {"rule_id": of.id("rule", of_same(f"({own} % 7)")), "n": "1000"}
    group |= {"first_at": of.at("group", "0"), "last_at": of.ahead(f"-({own} * 60)")}
    yield Copies("failure_groups", N_GROUPS, group)
    failed = f"({own} * {FAILS_ONE_IN})"
    member = {"execution_id": of.id("execution", of_same(failed))}
    member |= {"group_id": of.id("group", of_same(f"({own} % 30)"))}
    member |= {"failed_at": of.at("execution", of_same(failed), "3")}
    member |= {
        "retried_at": f"CASE WHEN {own} % 4 = 0 THEN NULL ELSE "
        f"{of.at('execution', of_same(failed), '9')} END"
    }
    yield Copies("failed_executions", of.counts["execution"] // FAILS_ONE_IN, member)
    hour = {"group_id": of.id("group", of_same(f"({own} % 30)")), "n": "3"}
    hour |= {"hour": of.ahead(f"-({own} / 30) * 60 - 1")}
    yield Copies("failure_hours", N_GROUPS * 48, hour)


def _deliveries(of: Words) -> Iterator[Copies]:
    own = number_within("i")
    n, event = of.counts["delivery"], of.id("event", of_same(f"{own} * 2"))
    message = {"id": event, "event_id": event, "created_at": of.at("delivery", "i")}
    yield Copies("webhook_messages", n, message)
    at, end = of.at("delivery", "i"), of.at("delivery", "i", "1")
    delivery = {"id": of.id("delivery", "i"), "message_id": event, "created_at": at}
    delivery |= {"run_at": at, "claimed_at": at, "settled_at": end}
    delivery |= {
        "state": f"CASE {own} % 50 WHEN 0 THEN 'failed' WHEN 1 THEN 'pending' "
        "ELSE 'delivered' END"
    }
    yield Copies("deliveries", n, delivery)
    attempt = {"delivery_id": of.id("delivery", "i"), "response": "NULL"}
    attempt |= {"started_at": at, "finished_at": end}
    yield Copies("delivery_attempts", n, attempt)


def _office(of: Words) -> Iterator[Copies]:
    own, few = number_within("i"), of.counts["contact"]
    for table, kind in (("audit_entries", "audit"), ("operations", "operation")):
        row = {"id": of.id(kind, "i"), "created_at": of.at(kind, "i")}
        yield Copies(table, of.counts[kind], row)
    run = {"id": of.id("run", "i"), "requested_at": of.at("run", "i")}
    yield Copies("lane_runs", few, run | {"started_at": of.at("run", "i")})
    address = f"'person' || {own} || '@example.org'"
    contact = {"id": of.id("contact", "i"), "address": address, "import_id": "NULL"}
    yield Copies("contacts", few, contact)
    engaged = {"id": of.id("engagement", "i"), "contact_id": of.id("contact", "i")}
    engaged |= {"address": address, "import_id": "NULL", "stage": "'met'"}
    engaged |= {"wake_at": of.ahead(own), "next_action_at": of.ahead(own)}
    yield Copies("engagements", few, engaged)
    digest = {"id": of.id("digest", "i"), "created_at": of.at("digest", "i")}
    yield Copies("digests", few, digest)
    mail = {"id": of.id("mail", "i"), "digest_id": of.id("digest", "i")}
    mail |= {"created_at": of.at("mail", "i"), "settled_at": of.at("mail", "i")}
    mail |= {"state": f"CASE {own} % 50 WHEN 0 THEN 'failed' ELSE 'sent' END"}
    yield Copies("digest_mails", few, mail)
    told = {"id": of.id("notification", "i"), "digest_id": of.id("digest", "i")}
    told |= {"state": "'sent'", "key": "'bench-' || i"}
    told |= {"ended_at": of.at("notification", "i")}
    yield Copies("notifications", few, told)
    item = {"notification_id": of.id("notification", "i")}
    yield Copies("digest_items", few, item | {"mail_id": of.id("mail", "i")})
