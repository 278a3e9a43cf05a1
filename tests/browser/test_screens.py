"""Every page of the demo at desktop and phone width, light and dark, without barriers.

``make screens`` looks at all four views and keeps a small picture of each page in
``docs/screens/pages``, and those that README and docs show in full.  Otherwise two
views have to do: each width, each scheme.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from dashboard.demo.people import LOGIN, PASSWORD
from tests.browser.barriers import serious
from tests.browser.fingers import too_small
from tests.browser.gallery import take

#: Where to keep the pictures; not set: they are not made.
SCREENS = os.environ.get("SCREENS")
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
#: The pictures that are kept in full, few because they stay in the history for ever.
LARGE = frozenset(
    {
        "overview-desktop-light",
        "overview-desktop-dark",
        "overview-phone-light",
        "executions-desktop-light",
        "execution-desktop-light",
        "rule-new-desktop-light",
    }
)
VIEWS = [(size, scheme) for size in SIZES for scheme in ("light", "dark")]
LISTS = {
    "overview": "/",
    "executions": "/executions/",
    "failures": "/failures/",
    "failures-all": "/failures/?show=all",
    "scheduled": "/scheduled/",
    "agenda": "/agenda/",
    "events": "/events/",
    "search-fields": "/search/executions",
    "search-chips": "/executions/?q=-state:pending+action:email+rule:e",
    "export": "/exports/executions",
    "views": "/views/",
    "view-new": "/views/new/executions?state=failed",
    "rules": "/rules/",
    "why": "/why/",
    "rule-new": "/rules/new",
    "rule-import": "/rules/import",
    "operations": "/operations/",
    "retry-all": "/executions/retry-all",
    "replay-all": "/executions/replay-all?state=succeeded",
    "replay-events": "/events/replay-all",
    "lanes": "/lanes/",
    "lane": "/lanes/executions",
    "runs": "/lanes/runs",
    "congregations": "/congregations/",
    "audit": "/audit/",
    "outreach": "/outreach/",
    "outreach-new": "/outreach/new",
    "contacts": "/outreach/contacts",
    "agents": "/outreach/agents",
    "outreach-campaigns": "/outreach/campaigns",
    "imports": "/outreach/imports",
    "import-new": "/outreach/imports/new",
    "notifications": "/notifications/",
    "addresses": "/addresses/",
    "addresses-missing": "/addresses/?tab=missing",
    "syncs": "/addresses/syncs",
    "sync-new": "/addresses/syncs/new",
    "areas": "/addresses/areas",
    "area": "/addresses/areas/st-bonifatius",
    "holds": "/holds/",
    "hold-new": "/holds/new",
    "transfers": "/transfers/",
    "export-archive": "/transfers/export",
    "import-archive": "/transfers/import",
    "board": "/board/",
    "board-new": "/board/st-bonifatius/new",
    "board-sections": "/board/st-bonifatius/sections",
    "retention": "/retention/",
    "retention-of": "/retention/st-bonifatius",
    "retention-dry-run": "/retention/st-bonifatius/dry-run",
    "retention-ledger": "/retention/st-bonifatius/ledger",
    "members": "/members/",
    "member-new": "/members/new",
    "groups": "/groups/",
    "group-new": "/groups/new",
    "territories": "/territories/",
    "territory-new": "/territories/new",
    "campaigns": "/campaigns/",
    "campaign-new": "/campaigns/new",
    "suppressions": "/suppressions/",
    "suppression-new": "/suppressions/new",
    "tokens": "/tokens/",
    "token-new": "/tokens/new",
    "webhooks": "/webhooks/",
    "webhook-new": "/webhooks/new",
    "deliveries": "/webhooks/deliveries",
    "sources": "/sources/",
    "source-new": "/sources/new",
    "feed-new": "/sources/feeds/new",
    "guests-new": "/sources/guests/new",
    "operators": "/operators/",
    "password": "/account/password",
    "account": "/account/",
    "styleguide": "/styleguide/",
}
#: A page of one row: the list it is found in, and how the addresses on the way look.
DETAILS = {
    "execution": ("/executions/?state=failed", r"/executions/[0-9a-f-]{36}"),
    "failure": ("/failures/?show=all", r"/failures/[0-9a-f-]{36}"),
    "job": ("/scheduled/", r"/scheduled/[0-9a-f-]{36}"),
    "event": ("/events/", r"/events/[0-9a-f-]{36}"),
    "operation": ("/operations/", r"/operations/[0-9a-f-]{36}"),
    "transfer": ("/transfers/", r"/transfers/[0-9a-f-]{36}"),
    "event-replay": (
        "/events/",
        r"/events/[0-9a-f-]{36}",
        r"/events/[0-9a-f-]{36}/replay",
    ),
    "member": ("/members/", r"/members/[0-9a-f-]{36}"),
    "member-edit": (
        "/members/",
        r"/members/[0-9a-f-]{36}",
        r"/members/[0-9a-f-]{36}/edit",
    ),
    "group": ("/groups/", r"/groups/[0-9a-f-]{36}"),
    "territory": ("/territories/", r"/territories/[0-9a-f-]{36}"),
    "campaign": ("/campaigns/", r"/campaigns/[0-9a-f-]{36}"),
    "campaign-edit": (
        "/campaigns/",
        r"/campaigns/[0-9a-f-]{36}",
        r"/campaigns/[0-9a-f-]{36}/edit",
    ),
    "engagement": ("/outreach/", r"/outreach/[0-9a-f-]{36}"),
    "engagement-edit": (
        "/outreach/",
        r"/outreach/[0-9a-f-]{36}",
        r"/outreach/[0-9a-f-]{36}/edit",
    ),
    "contact": ("/outreach/contacts", r"/outreach/contacts/[0-9a-f-]{36}"),
    "import": ("/outreach/imports", r"/outreach/imports/[0-9a-f-]{36}"),
    "import-draft": ("/outreach/imports", r"/outreach/drafts/[0-9a-f-]{36}"),
    "rule": ("/rules/", r"/rules/[0-9a-f-]{36}"),
    "rule-versions": (
        "/rules/",
        r"/rules/[0-9a-f-]{36}",
        r"/rules/[0-9a-f-]{36}/versions",
    ),
    "rule-plan": (
        "/rules/?trigger=time.before_recording",
        r"/rules/[0-9a-f-]{36}",
        r"/rules/[0-9a-f-]{36}/plan",
    ),
    "address": ("/addresses/", r"/addresses/[0-9a-f-]{36}"),
    "sync": ("/addresses/syncs", r"/addresses/syncs/[0-9a-f-]{36}"),
    "document": ("/board/", r"/board/[0-9a-f-]{36}"),
    "document-edit": (
        "/board/",
        r"/board/[0-9a-f-]{36}",
        r"/board/[0-9a-f-]{36}/edit",
    ),
    "webhook": ("/webhooks/", r"/webhooks/[0-9a-f-]{36}"),
    "notification-mail": ("/notifications/", r"/notifications/mails/[0-9a-f-]{36}"),
    "digest": ("/notifications/", r"/notifications/digests/[0-9a-f-]{36}"),
    "recipient": (
        "/notifications/recipients?q=claire",
        r"/notifications/recipients/[0-9a-f-]{36}",
    ),
    "congregation": ("/congregations/", r"/congregations/(?!new)[a-z0-9-]+"),
    "booking": ("/executions/", r"/congregations/[a-z0-9-]+/bookings/[^\"/?]+"),
    "why-booking": ("/why/", r"/why/[a-z0-9-]+/bookings/[^\"/?]+"),
    "rule-try": (
        "/rules/",
        r"/rules/[0-9a-f-]{36}",
        r"/rules/[0-9a-f-]{36}/try",
        r"/rules/[0-9a-f-]{36}/try\?record=[^\"]+",
    ),
}


@pytest.fixture(
    scope="module",
    params=VIEWS if SCREENS else [("desktop", "light"), ("phone", "dark")],
    ids=lambda param: "-".join(param),
)
def view(
    request: pytest.FixtureRequest, chromium: Browser, demo_url: str
) -> Iterator[tuple[str, BrowserContext]]:
    """Return a name and a logged-in browser of one size and colour scheme."""
    size, scheme = request.param
    width, height = SIZES[size]
    context = chromium.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        base_url=demo_url,
        reduced_motion="reduce",  # colours change at once then
    )
    page = context.new_page()
    page.goto("/login")
    page.get_by_label("E-mail").fill(LOGIN)
    page.locator("input[type=password]").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    page.close()
    yield f"{size}-{scheme}", context
    context.close()


def _path(page: Page, name: str) -> str:
    if name in LISTS:
        return LISTS[name]
    where, *patterns = DETAILS[name]
    for pattern in patterns:
        page.goto(where)
        found = re.search(f'href="({pattern})"', page.content())
        assert found, f"no link to {name} in {where}"
        where = found[1]
    return where


@pytest.mark.parametrize("name", [*LISTS, *DETAILS])
def test_a_page_fits_its_screen_and_obeys_the_policy(
    view: tuple[str, BrowserContext], name: str
) -> None:
    label, context = view
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda line: complaints.append(line.text) if line.type == "error" else None,
    )
    answer = page.goto(_path(page, name))

    assert answer is not None
    assert answer.status == 200
    width = page.viewport_size
    assert width is not None
    assert page.evaluate("document.documentElement.scrollWidth") <= width["width"]
    assert not complaints
    if label.startswith("phone"):
        assert too_small(page) == []
    _keep(page, name, label)
    if SCREENS or _is_turn(name, label):
        assert serious(page) == []
    page.close()


def _is_turn(name: str, label: str) -> bool:
    """Whether the page is looked at for barriers in this view: in one of the two.

    Looking takes longer than everything else; ``make screens`` does it in all four.
    """
    is_light = [*LISTS, *DETAILS].index(name) % 2 == 0
    return is_light == label.endswith("light")


def _keep(page: Page, name: str, label: str) -> None:
    if not SCREENS:
        return
    page.wait_for_timeout(300)  # fonts and the first refresh have settled
    take(page, Path(SCREENS) / "pages", f"{name}-{label}")
    if f"{name}-{label}" in LARGE:
        page.screenshot(path=Path(SCREENS) / f"{name}-{label}.png")
