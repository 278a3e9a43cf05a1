"""Searches beside outreach, and of what is held or kept, find what they say."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from tasks.db import Begin
from tasks.lanes.retention import NAME
from tasks.models import (
    Agent,
    BlockReason,
    Channel,
    Congregation,
    ContactImport,
    DailyRun,
    Hold,
    HoldKind,
    OutreachCampaign,
    RetentionBlock,
)
from tasks.search.conditions import SEARCH_WINDOW
from tasks.search.plain import plain_conditions
from tasks.search.plain_lists import PLAIN
from tests.support import factories, people_rows
from tests.support.factories import NOW
from tests.support.searching import ids_found

Names = Mapping[Any, str]
DAY = timedelta(days=1)


def _check(
    session: Session, of: str, names: Names, expected: Mapping[str, set[str]]
) -> None:
    session.flush()
    found = {
        query: {names[id_] for id_ in ids_found(session, of, query)}
        for query in expected
    }
    assert found == expected


def test_agents_and_campaigns_are_found_by_name_cap_and_pause(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        there = factories.congregation(session, "elsewhere")
        works = Agent(congregation_id=here, address="sales@example.org", daily_cap=20)
        rests = Agent(congregation_id=there, address="host_1@example.org")
        rests.paused_at, rests.created_at = NOW, NOW - DAY
        session.add_all([works, rests])
        session.flush()
        _check(
            session,
            "agents",
            {works.id: "works", rests.id: "rests"},
            {
                "state:paused": {"rests"},
                "state:active": {"works"},
                "state:paused state:active": {"works", "rests"},
                "address:SALES@": {"works"},
                "-address:sales": {"rests"},
                "cap:>19": {"works"},
                "-cap:>19": {"rests"},
                "capped:no": {"rests"},
                "paused:2026-03-10": {"rests"},
                "paused:<2026-03-10": set(),
                "made:2026-03-09": {"rests"},
                "congregation:elsewhere": {"rests"},
                f"id:{works.id}": {"works"},
                "host_|": {"rests"},
                "sales_|": set(),
            },
        )
        spring = OutreachCampaign(congregation_id=here, name="Spring", daily_cap=5)
        autumn = OutreachCampaign(congregation_id=here, name="Autumn 100%")
        autumn.created_at = NOW
        session.add_all([spring, autumn])
        session.flush()
        _check(
            session,
            "outreach-campaigns",
            {spring.id: "spring", autumn.id: "autumn"},
            {
                "name:SPR": {"spring"},
                "cap:5": {"spring"},
                "capped:yes": {"spring"},
                "capped:no": {"autumn"},
                "made:2026-03-10": {"autumn"},
                "100%|": {"autumn"},
            },
        )


def test_imports_are_found_by_file_by_whom_and_by_what_became_of_them(
    begin: Begin,
) -> None:
    with begin() as session:
        here = factories.congregation(session)
        file = ContactImport(
            congregation_id=here,
            filename="Choir.csv",
            created_by="anna@example.org",
            created_at=NOW,
            counts={"created": 120, "refused": 2},
        )
        call = ContactImport(
            congregation_id=here,
            created_by="token Website",
            created_at=NOW - DAY,
            undone_at=NOW,
            n_removed=3,
        )
        session.add_all([file, call])
        session.flush()
        _check(
            session,
            "contact-imports",
            {file.id: "file", call.id: "call"},
            {
                "file:choir": {"file"},
                "source:api": {"call"},
                "source:file": {"file"},
                "by:anna@": {"file"},
                "state:undone": {"call"},
                "state:kept": {"file"},
                "new:>100": {"file"},
                "new:0": {"call"},  # nothing was counted
                "made:2026-03-09": {"call"},
                "undone:2026-03-10": {"call"},
                "congregation:nowhere": set(),
                "website|": {"call"},
                "CSV|": {"file"},
            },
        )


def test_words_of_imports_are_looked_for_in_the_newest_only() -> None:
    found = plain_conditions(PLAIN["contact-imports"], "file:choir", "anna")
    text = str(found[0])
    assert "ORDER BY contact_imports.created_at DESC" in text
    assert "LIMIT" in text
    assert SEARCH_WINDOW in found[0].compile().params.values()


def test_holds_are_found_by_what_they_held_and_who_said_so(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        rule = factories.rule(session, here, name="24h reminder")
        every = Hold(why="Mail server moves", held_by="anna@example.org", held_at=NOW)
        every.until = NOW + DAY
        one = Hold(
            why="Far more than usual",
            kind=HoldKind.VOLUME,
            congregation_id=here,
            rule_id=rule.id,
            channel=Channel.EMAIL,
            held_by="system",
            held_at=NOW - DAY,
            lifted_at=NOW,
            lifted_by="ben@example.org",
        )
        session.add_all([every, one])
        session.flush()
        _check(
            session,
            "holds",
            {every.id: "every", one.id: "one"},
            {
                "channel:email": {"one"},
                "channel:everything": {"every"},
                "channel:email channel:everything": {"every", "one"},
                "rule:24H": {"one"},
                "-rule:24h": {"every"},
                "why:server": {"every"},
                "by:anna": {"every"},
                "by:ben": {"one"},
                "volume:yes": {"one"},
                "lifted:no": {"every"},
                "held:2026-03-09": {"one"},
                "ended:2026-03-11": {"every"},
                "ended:<2026-03-11": {"one"},
                "congregation:bonifatius": {"one"},
                "reminder|": {"one"},
                "moves|": {"every"},
            },
        )


def test_congregations_are_found_by_who_left_them_and_how_the_lane_fared(
    begin: Begin,
) -> None:
    with begin() as session:
        here = factories.congregation(session)
        there = factories.congregation(session, "there", name="St. Ansgar")
        gone = people_rows.left(session, here, date(2020, 1, 31))
        block = RetentionBlock(congregation_id=here, member_id=gone)
        block.reason = BlockReason.FAILED
        block.first_seen_at = block.last_seen_at = NOW
        failed = DailyRun(congregation_id=here, lane=NAME, failed_at=NOW)
        done = DailyRun(congregation_id=there, lane=NAME, done_at=NOW)
        other = DailyRun(congregation_id=there, lane="other", failed_at=NOW)
        session.add_all([block, failed, done, other])
        session.execute(
            update(Congregation)
            .where(Congregation.id == there)
            .values(retention_months=12)
        )
        _check(
            session,
            "retention",
            {here: "here", there: "there"},
            {
                "left:yes": {"here"},
                "left:no": {"there"},
                "stays:yes": {"here"},
                "failed:yes": {"here"},
                "failed:no": {"there"},
                "run:2026-03-10": {"there"},
                "-run:2026-03-10": {"here"},
                "months:12": {"there"},
                "slug:there": {"there"},
                "name:ANSGAR": {"there"},
                "bonif|": {"here"},
            },
        )
