"""Every lane, one row each.  Start reading here.

The worker, the console, the command line and the tests all read this table; how to
add a row is told in ``docs/adding-a-lane.md``.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from tasks.errors import UnknownLane
from tasks.lane import Lane
from tasks.lanes import (
    admin_mails,
    campaign,
    contact_due,
    data_transfer,
    deliveries,
    email,
    executions,
    expirations,
    fanout,
    feeds,
    janitor,
    operations,
    replanning,
    rescue,
    retention,
    rollups,
    scheduled_jobs,
    sync,
    thumbnail,
    volumes,
)
from tasks.saying import mark

LANES: Final = (
    Lane(
        name="executions",
        title=mark("Executions"),
        purpose=mark("Does what the rules ask for, and tries again what failed."),
        sweep=executions.sweep,
        backlog=executions.backlog,
        every=timedelta(seconds=1),
        batch=1_000,
        workers=8,
    ),
    Lane(
        name="scheduled_jobs",
        title=mark("Scheduled jobs"),
        purpose=mark("Turns scheduled jobs into executions when their time has come."),
        sweep=scheduled_jobs.sweep,
        backlog=scheduled_jobs.backlog,
        every=timedelta(seconds=1),
        batch=500,
    ),
    Lane(
        name="replanning",
        title=mark("Replanning"),
        purpose=mark(
            "Moves the many jobs of a changed rule or timezone, piece by piece."
        ),
        sweep=replanning.sweep,
        backlog=replanning.backlog,
        every=timedelta(seconds=2),
        batch=500,
    ),
    Lane(
        name="operations",
        title=mark("Operations"),
        purpose=mark("Does to many rows what an operator asked for, piece by piece."),
        sweep=operations.sweep,
        backlog=operations.backlog,
        every=timedelta(seconds=2),
        batch=200,
    ),
    Lane(
        name="contact_due",
        title=mark("Contact due"),
        purpose=mark("Wakes agents when it is time to look at a contact again."),
        sweep=contact_due.sweep,
        backlog=contact_due.backlog,
        every=timedelta(minutes=5),
        batch=200,
        is_startable=True,
    ),
    Lane(
        name="feeds",
        title=mark("Feeds"),
        purpose=mark("Fetches podcast feeds and turns their items into episodes."),
        sweep=feeds.sweep,
        backlog=feeds.backlog,
        every=timedelta(seconds=30),
        batch=50,
        workers=2,
    ),
    Lane(
        name="fanout",
        title=mark("Fan-out"),
        purpose=mark("Turns events into deliveries, one for each webhook endpoint."),
        sweep=fanout.sweep,
        backlog=fanout.backlog,
        every=timedelta(seconds=1),
        batch=200,
    ),
    Lane(
        name="deliveries",
        title=mark("Deliveries"),
        purpose=mark("Posts events to webhook endpoints, and tries again what failed."),
        sweep=deliveries.sweep,
        backlog=deliveries.backlog,
        every=timedelta(seconds=1),
        batch=200,
        workers=4,
    ),
    Lane(
        name="email",
        title=mark("E-mail"),
        purpose=mark("Mails accounts what they are told, in one digest each."),
        sweep=email.sweep,
        backlog=email.backlog,
        every=timedelta(seconds=1),
        batch=100,
        workers=5,
        is_startable=True,
    ),
    Lane(
        name="admin_mails",
        title=mark("Admin mails"),
        purpose=mark(
            "Mails admins what they ought to look at, such as a failing endpoint."
        ),
        sweep=admin_mails.sweep,
        backlog=admin_mails.backlog,
        every=timedelta(seconds=30),
        batch=20,
    ),
    Lane(
        name="campaign",
        title=mark("Campaigns"),
        purpose=mark("Starts and ends campaigns when a congregation’s day has come."),
        sweep=campaign.sweep,
        backlog=campaign.backlog,
        every=timedelta(minutes=3),
        batch=200,
        is_startable=True,
    ),
    Lane(
        name="retention",
        title=mark("Retention"),
        purpose=mark("Anonymises members who left when their time is over."),
        sweep=retention.sweep,
        backlog=retention.backlog,
        every=timedelta(minutes=5),
        batch=500,
        is_startable=True,
    ),
    Lane(
        name="thumbnail",
        title=mark("Thumbnails"),
        purpose=mark("Draws the first page of each PDF of the document boards."),
        sweep=thumbnail.sweep,
        backlog=thumbnail.backlog,
        every=timedelta(seconds=5),
        batch=10,
        workers=2,
        is_startable=True,
    ),
    Lane(
        name="sync",
        title=mark("Address sync"),
        purpose=mark(
            "Reads addresses from open data, and says which are new or missing."
        ),
        sweep=sync.sweep,
        backlog=sync.backlog,
        every=timedelta(seconds=5),
        batch=1,
    ),
    Lane(
        name="expirations",
        title=mark("Expirations"),
        purpose=mark("Tells who looks after a board which documents end soon."),
        sweep=expirations.sweep,
        backlog=expirations.backlog,
        every=timedelta(minutes=5),
        batch=500,
        is_startable=True,
    ),
    Lane(
        name="data_transfer",
        title=mark("Data transfer"),
        purpose=mark(
            "Writes archives of a congregation’s data, and takes archives over."
        ),
        sweep=data_transfer.sweep,
        backlog=data_transfer.backlog,
        every=timedelta(seconds=5),
        batch=1,
    ),
    Lane(
        name="rescue",
        title=mark("Rescue"),
        purpose=mark("Takes back what a vanished worker was doing."),
        sweep=rescue.sweep,
        backlog=rescue.backlog,
        every=timedelta(seconds=15),
        every_setting="rescue_every",
        batch=500,
    ),
    Lane(
        name="rollups",
        title=mark("Rollups"),
        purpose=mark(
            "Counts what has ended, for the charts, and looks at budgets and views "
            "that warn by mail."
        ),
        sweep=rollups.sweep,
        backlog=rollups.backlog,
        every=timedelta(minutes=1),
        # Each of them may have ended hundreds: SQLite's writers must not wait long.
        batch=10,
    ),
    Lane(
        name="volumes",
        title=mark("Volumes"),
        purpose=mark(
            "Holds rules that do far more than usual, until somebody has looked."
        ),
        sweep=volumes.sweep,
        backlog=volumes.backlog,
        every=timedelta(seconds=10),
        batch=1,
    ),
    Lane(
        name="janitor",
        title=mark("Janitor"),
        purpose=mark("Removes what is past its keeping time."),
        is_startable=True,
        sweep=janitor.sweep,
        backlog=janitor.backlog,
        every=timedelta(hours=1),
        batch=5_000,
    ),
)

_BY_NAME: Final = {each.name: each for each in LANES}


def lane(name: str) -> Lane:
    """Return the lane called ``name``.

    Raises:
        UnknownLane: there is none; the message lists those there are.
    """
    if name not in _BY_NAME:
        known = ", ".join(_BY_NAME)
        raise UnknownLane(f"There is no lane {name!r}. The lanes are: {known}.")
    return _BY_NAME[name]
