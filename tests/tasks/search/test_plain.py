"""Searches of lists that they alone narrow find what they say, on both databases."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tasks.congregation.names import folded
from tasks.db import Begin
from tasks.models import (
    Account,
    AuditEntry,
    Digest,
    DigestMail,
    Group,
    GroupMember,
    LaneRun,
    LaneTrigger,
    MailState,
    Member,
    Operation,
    OperationKind,
    OperationState,
    SuppressionReason,
    new_id,
)
from tasks.operations.audit import SYSTEM
from tasks.operations.suppressions import suppress
from tasks.search import plain
from tasks.search.plain import asked_conditions, plain_conditions
from tasks.search.plain_lists import PLAIN
from tests.support import factories
from tests.support.factories import NOW
from tests.support.outreach import engagement

Names = Mapping[Any, str]


def _check(
    session: Session, of: str, names: Names, expected: Mapping[str, set[str]]
) -> None:
    session.flush()
    found = {}
    for query in expected:
        text, _, terms = query.rpartition("|")
        conditions = plain_conditions(PLAIN[of], terms, text)
        ids = session.scalars(select(PLAIN[of].id).where(*conditions))
        found[query] = {names[id_] for id_ in ids if id_ in names}
    assert found == expected


def _operation(**values: Any) -> Operation:
    usual = {
        "id": new_id(),
        "kind": OperationKind.RETRY_EXECUTIONS,
        "matching": {},
        "high_water": NOW,
        "actor": "anna@example.org",
        "state": OperationState.DONE,
        "n_total": 10,
        "n_done": 10,
        "n_changed": 10,
        "touched_at": NOW,
    }
    return Operation(**usual | values)


def test_operations_are_found_by_their_fields(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        retry = _operation(congregation_id=here, n_changed=7, why="Mail was down")
        replay = _operation(
            kind=OperationKind.REPLAY_EXECUTIONS, is_again=True, actor="ben@example.org"
        )
        resumes = _operation(
            kind=OperationKind.CANCEL_JOBS,
            matching={"then_resume": "deliveries"},
            state=OperationState.STOPPED,
            n_total=5_000,
        )
        session.add_all([retry, replay, resumes])
        names = {retry.id: "retry", replay.id: "replay", resumes.id: "resumes"}
        _check(
            session,
            "operations",
            names,
            {
                "state:stopped": {"resumes"},
                "kind:replay_executions": {"replay"},
                "by:BEN@": {"replay"},
                "why:mail": {"retry"},
                "again:yes": {"replay"},
                "again:no": {"retry", "resumes"},
                "rows:>100": {"resumes"},
                "skipped:>0": {"retry"},
                "lane:executions": {"retry", "replay"},
                "lane:scheduled_jobs": {"resumes"},
                "lane:deliveries": {"resumes"},
                "-lane:deliveries": {"retry", "replay"},
                "congregation:bonifatius": {"retry"},
                "mail was|": {"retry"},
                "made:<1990-01-01": set(),
            },
        )


def test_members_are_found_by_their_fields_and_names_without_accents(
    begin: Begin,
) -> None:
    with begin() as session:
        here = factories.congregation(session)
        made = {}
        for first, last, values in (
            ("Zoë", "Łukasz", {"is_elder": True}),
            ("Ben", "Brandt", {"left_on": NOW.date()}),
            ("Ida", "Zoe", {"inactive_on": NOW.date(), "is_publisher": False}),
            ("", "", {"anonymised_at": NOW, "left_on": NOW.date()}),
        ):
            row = Member(
                congregation_id=here,
                id=new_id(),
                first_name=first,
                last_name=last,
                search_name=folded(f"{last} {first}"),
                **values,
            )
            made[row.id] = first or "nobody"
            session.add(row)
        session.flush()
        zoe = next(id_ for id_, name in made.items() if name == "Zoë")
        group = Group(
            congregation_id=here, id=new_id(), name="North", responsible_id=zoe
        )
        session.add(group)
        session.flush()
        of = {"congregation_id": here, "group_id": group.id}
        session.add(GroupMember(**of, member_id=zoe))
        _check(
            session,
            "members",
            made,
            {
                "zoe|": {"Zoë", "Ida"},
                "zoe lukasz|": {"Zoë"},
                "zoe|-elder:yes": {"Ida"},
                "name:brandt": {"Ben"},
                "state:here": {"Zoë", "Ida"},
                "state:inactive": {"Ida"},
                "state:left": {"Ben"},
                "state:anonymised": {"nobody"},
                "state:all": {"Zoë", "Ben", "Ida", "nobody"},
                "group:nor": {"Zoë"},
                "publisher:no": {"Ida"},
            },
        )


def test_engagements_and_contacts_are_found_by_their_fields(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        zoe = engagement(session, here, "zoe@example.org", stage="intro")
        ben = engagement(session, here, "ben@x.org", agent="help@agents.example.org")
        ida = engagement(session, here, "ida@x.org", next_action_at=None)
        zoe.first_outbound_at, zoe.last_inbound_at = NOW, NOW + timedelta(hours=1)
        ben.paused_at = NOW
        suppress(session, here, "ida@x.org", SuppressionReason.ASKED, SYSTEM)
        names = {zoe.id: "zoe", ben.id: "ben", ida.id: "ida"}
        _check(
            session,
            "engagements",
            names,
            {
                "state:armed": {"zoe", "ben"},
                "zoe@|": {"zoe"},
                "example.org|": set(),
                "contact:x.org": {"ben", "ida"},
                "agent:help@": {"ben"},
                "stage:INTRO": {"zoe"},
                "next:<2026-03-11": {"zoe", "ben"},
                "-next:<2026-03-11": {"ida"},
                "mailed:yes replied:yes": {"zoe"},
                "replied:no": {"ben", "ida"},
                "suppressed:yes": {"ida"},
                "paused:yes": {"ben"},
                "waits:yes": set(),
            },
        )
        contacts = {zoe.contact_id: "zoe", ben.contact_id: "ben", ida.contact_id: "ida"}
        _check(
            session,
            "contacts",
            contacts,
            {"ZOE@|": {"zoe"}, "address:x.org": {"ben", "ida"}, "source:import": set()},
        )
        _check(session, "suppressions", {}, {"reason:asked": set(), "ida|": set()})
        asked = {"within": "state:armed", "query": "state:idle"}
        both = asked_conditions(PLAIN["engagements"], asked)
        ids = session.scalars(select(PLAIN["engagements"].id).where(*both))
        assert ids.all() == [], "the tab and the search must hold both"


def test_addresses_are_found_by_the_letters_of_their_domain(begin: Begin) -> None:
    kept = "zoe@xn--bcher-kva.example"
    with begin() as session:
        of = factories.congregation(session)
        row = engagement(session, of, "Zoé@Bücher.example", agent="x@bücher.example")
        other = engagement(session, of, kept, agent=kept)
        names = {row.id: "zoé", other.id: "zoe"}
        _check(
            session,
            "engagements",
            names,
            {
                "zoe@bücher.exam|": {"zoe"},
                "zoé@BÜCHER|": {"zoé"},
                f"{kept}|": {"zoe"},
                "|contact:bücher": {"zoé", "zoe"},
                "|contact:bücher.example": {"zoé", "zoe"},
                "|contact:xn--bcher": {"zoé", "zoe"},
                "|agent:zoe@bücher": {"zoe"},
                "|agent:bücherei": set(),
            },
        )


def test_mails_are_found_by_their_fields(begin: Begin) -> None:
    with begin() as session:
        of = {"congregation_id": factories.congregation(session)}
        anna = Account(**of, email="anna@example.org", name="Anna Berg")
        digest = Digest(**of, category="territory")
        session.add_all([anna, digest])
        session.flush()
        about = {"digest_id": digest.id, "account_id": anna.id}
        mail = DigestMail(
            **of,
            **about,
            run_at=NOW,
            asked_at=NOW,
            state=MailState.FAILED,
            error="550 no",
            attempt=3,
        )
        session.add(mail)
        session.flush()
        _check(
            session,
            "mails",
            {mail.id: "it"},
            {
                "state:failed to:berg": {"it"},
                "category:territory tries:>2": {"it"},
                "category:document": set(),
                "550|": {"it"},
                "anna@|": {"it"},
                "-error:550": set(),
            },
        )


def test_runs_are_found_by_their_fields(begin: Begin) -> None:
    with begin() as session:
        fine = {"requested_at": NOW, "started_at": NOW, "ended_at": NOW}
        runs = [
            LaneRun(lane="feeds", trigger=LaneTrigger.CRON, n_moved=12, **fine),
            LaneRun(lane="email", trigger=LaneTrigger.CLOCK, error="gone", **fine),
            LaneRun(
                lane="feeds", trigger=LaneTrigger.OPERATOR, requested_by="ben@x.org"
            ),
        ]
        session.add_all(runs)
        session.flush()
        _check(
            session,
            "runs",
            dict(
                zip([run.id for run in runs], ("done", "failed", "asked"), strict=True)
            ),
            {
                "lane:feeds": {"done", "asked"},
                "lane:feeds state:done": {"done"},
                "state:failed": {"failed"},
                "state:waiting by:ben": {"asked"},
                "trigger:cron moved:>10": {"done"},
                "asked:<2026-03-11": {"done", "failed"},
            },
        )


def test_what_no_index_finds_is_looked_for_in_the_newest(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "SEARCH_WINDOW", 1)
    with begin() as session:
        names = {}
        for n, who in enumerate(("anna", "ben")):
            row = AuditEntry(
                id=new_id(),
                actor=f"{who}@example.org",
                action="rule.edited",
                subject_kind="rule",
                subject_id=who,
                summary=f"Changed {who}.",
                created_at=NOW + timedelta(hours=n),
            )
            session.add(row)
            names[row.id] = who
        _check(
            session,
            "audit",
            names,
            {
                "who:anna": set(),
                "who:ben": {"ben"},
                "who:anna subject:anna": {"anna"},
                "changed|": {"ben"},
                "action:rule. about:rule subject:anna": {"anna"},
                "at:<2026-03-10T12:30": {"anna"},
            },
        )
