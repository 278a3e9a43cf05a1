"""Searches of what is set up, and of the back office, find what they say."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from sqlalchemy.orm import Session

from tasks.clock import utcnow
from tasks.db import Begin
from tasks.models import (
    ApiToken,
    Endpoint,
    FailureGroup,
    Group,
    GroupMember,
    Podcast,
    RulePodcast,
    Territory,
    new_id,
)
from tests.support import address_rows, factories, territory_rows
from tests.support.factories import NOW
from tests.support.searching import ids_found

Names = Mapping[Any, str]
DAY = timedelta(days=1)


def _check(
    session: Session, of: str, names: Names, expected: Mapping[str, set[str]]
) -> None:
    session.flush()
    found = {
        query: {names[id_] for id_ in ids_found(session, of, query) if id_ in names}
        for query in expected
    }
    assert found == expected


def test_rules_are_found_by_what_they_wait_for_and_do(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        elsewhere = factories.congregation(session, "elsewhere")
        session.add(Podcast(congregation_id=here, id="bells", title="On bells"))
        session.flush()
        every = factories.rule(session, here, name="Welcome")
        one = factories.reminder(session, here, name="24 h before", enabled=False)
        one.podcast_ids = ["bells"]
        session.add(
            RulePodcast(congregation_id=here, rule_id=one.id, podcast_id="bells")
        )
        lane = factories.rule(session, elsewhere, name="Look", version=3)
        lane.action, lane.settings = "start_lane", {"lane": "feeds"}
        lane.steps = [{"number": 1}]
        names = {every.id: "every", one.id: "one", lane.id: "lane"}
        _check(
            session,
            "rules",
            names,
            {
                "name:WEL": {"every"},
                "state:off": {"one"},
                "trigger:time.before_recording": {"one"},
                "action:start_lane": {"lane"},
                "lane:feeds": {"lane"},
                "lane:sync": set(),
                "podcast:bells": {"every", "one"},
                "-podcast:bells": {"lane"},
                "steps:>0": {"lane"},
                "version:>=3": {"lane"},
                "limited:no": {"every", "one", "lane"},
                "congregation:elsewhere": {"lane"},
                "24 h|": {"one"},
            },
        )


def test_failures_are_found_by_cause_owner_and_number(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        rule = factories.rule(session, here, name="Welcome")
        endpoint = Endpoint(
            congregation_id=here,
            url="https://hooks.example.org/x",
            description="Website",
            secret="s",
            secret_hint="s",
            created_by="ada",
        )
        session.add(endpoint)
        session.flush()
        usual = {"congregation_id": here, "n": 1, "first_at": NOW, "last_at": NOW}
        mails = FailureGroup(
            id=new_id(), rule_id=rule.id, action="email", cause="A timeout", **usual
        )
        posts = FailureGroup(
            **usual
            | {
                "id": new_id(),
                "endpoint_id": endpoint.id,
                "action": "delivery",
                "cause": "Answered 503",
                "n": 40,
                "last_at": NOW + DAY,
                "acknowledged_by": "ada@example.org",
                "note": "Known",
            }
        )
        session.add_all([mails, posts])
        _check(
            session,
            "failures",
            {mails.id: "mails", posts.id: "posts"},
            {
                "error:TIMEOUT": {"mails"},
                "rule:welc": {"mails"},
                "endpoint:website": {"posts"},
                "delivery:yes": {"posts"},
                "n:>10": {"posts"},
                "last:>2026-03-10": {"posts"},
                "by:ada@ note:known": {"posts"},
                "state:open": set(),
                "state:all": {"mails", "posts"},
                "503|": {"posts"},
                "website|": {"posts"},
            },
        )


def test_endpoints_are_found_by_how_they_stand(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        usual = {"congregation_id": here, "secret": "s", "secret_hint": "s"}
        usual |= {"created_by": "ada"}
        fine = Endpoint(url="https://a.example.org", event_types=None, **usual)
        bad = Endpoint(
            url="https://b.example.org",
            failing_since=NOW,
            failures=7,
            event_types=["booking.confirmed"],
            **usual,
        )
        off = Endpoint(url="https://c.example.org", enabled=False, **usual)
        off.event_types = ["episode.published"]
        session.add_all([fine, bad, off])
        session.flush()
        _check(
            session,
            "endpoints",
            {fine.id: "fine", bad.id: "bad", off.id: "off"},
            {
                "state:enabled": {"fine"},
                "state:failing": {"bad"},
                "state:disabled": {"off"},
                "type:booking.confirmed": {"fine", "bad"},
                "failures:>3": {"bad"},
                "b.example|": {"bad"},
            },
        )


def test_tokens_are_found_by_how_they_stand(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        base = {"congregation_id": here, "digest": "d", "last4": "1234"}
        base |= {"created_by": "ada"}
        tokens = {
            "lives": ApiToken(name="Site", lookup="a", scopes="read events:write"),
            "over": ApiToken(name="Old", lookup="b", scopes="read", expires_at=NOW),
            "gone": ApiToken(name="X", lookup="c", scopes="read", revoked_at=NOW),
        }
        for token in tokens.values():
            for name, value in base.items():
                setattr(token, name, value)
        tokens["over"].expires_at = utcnow() - DAY
        session.add_all(tokens.values())
        session.flush()
        _check(
            session,
            "tokens",
            {token.id: name for name, token in tokens.items()},
            {
                "state:active": {"lives"},
                "state:expired": {"over"},
                "state:revoked": {"gone"},
                "scope:events:write": {"lives"},
                "scope:events": set(),
                "name:old": {"over"},
                "expires:<2200-01-01": {"over"},
            },
        )


def test_territories_are_found_by_days_and_people(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        free = Territory(congregation_id=here, number="1", name="Mill")
        out = Territory(congregation_id=here, number="12", name="Harbour")
        session.add_all([free, out])
        session.flush()
        zoe = territory_rows.member(session, here, last_name="Łukasz", first_name="Zoë")
        territory_rows.attribution(
            session,
            here,
            zoe,
            out.id,
            started_on=date(2026, 1, 1),
            due_on=date(2026, 3, 1),
        )
        _check(
            session,
            "territories",
            {free.id: "free", out.id: "out"},
            {
                "state:free": {"free"},
                "state:out": {"out"},
                "state:overdue": {"out"},
                "-state:free": {"out"},
                "number:1": {"free"},
                "member:łukasz": {"out"},
                "due:<2026-03-01": set(),
                "due:<=2026-03-01": {"out"},
                "due:2026-03-01[Pacific/Noumea]": {"out"},
                "harb|": {"out"},
                "12|": {"out"},
            },
        )


def test_campaigns_are_found_by_their_days(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        spring = territory_rows.campaign(session, here, activated_at=NOW)
        later = territory_rows.campaign(
            session,
            here,
            name="Autumn",
            starts_on=date(2026, 10, 1),
            ends_on=date(2026, 10, 9),
        )
        _check(
            session,
            "campaigns",
            {spring: "spring", later: "later"},
            {
                "state:active": {"spring"},
                "state:scheduled": {"later"},
                "starts:>2026-06-01": {"later"},
                "ends:2026-10-09": {"later"},
                "aut|": {"later"},
            },
        )


def test_groups_and_addresses_are_found_by_their_parts(begin: Begin) -> None:
    with begin() as session:
        here = factories.congregation(session)
        head = territory_rows.member(session, here, first_name="Anna")
        other = territory_rows.member(
            session, here, last_name="Łukasz", first_name="Zoë"
        )
        group = Group(congregation_id=here, name="North", responsible_id=head)
        empty = Group(
            congregation_id=here, name="South", responsible_id=other, deputy_id=head
        )
        session.add_all([group, empty])
        session.flush()
        session.add(
            GroupMember(congregation_id=here, member_id=other, group_id=group.id)
        )
        _check(
            session,
            "groups",
            {group.id: "north", empty.id: "south"},
            {
                "name:nor": {"north"},
                "responsible:anna": {"north"},
                "member:Łukasz": {"north"},
                "deputy:anna": {"south"},
                "zoe|": {"north", "south"},
            },
        )
        mill = address_rows.address(
            session, here, key="54998 rue du moulin 00003", street="Rue du Moulin"
        )
        gone = address_rows.address(
            session, here, key="54998 rue haute 00001", missing_since=NOW
        )
        _check(
            session,
            "addresses",
            {mill.id: "mill", gone.id: "gone"},
            {
                "street:MOULIN": {"mill"},
                "state:missing": {"gone"},
                "-state:missing": {"mill"},
                "missing:2026-03-10": {"gone"},
                "haute 1|": {"gone"},
            },
        )
