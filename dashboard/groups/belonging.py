"""What buttons on a group's page do."""

from __future__ import annotations

from uuid import UUID

from flask import request, url_for
from flask.typing import ResponseReturnValue

from dashboard.groups.views import bp
from dashboard.office import attempt, chosen_id
from tasks.congregation.people import enrolling, groups
from tasks.models import new_id
from tasks.saying import say


@bp.post("/<uuid:group_id>/members")
def add_member(group_id: UUID) -> ResponseReturnValue:
    """Put a member into a group."""
    # An id that nobody has stands for none, so that the engine says what is wrong.
    member_id = chosen_id(request.form.get("member_id")) or new_id()
    return attempt(
        lambda session, who, _: enrolling.add_member(session, group_id, member_id, who),
        say("Added."),
        url_for(".detail", group_id=group_id),
    )


@bp.post("/<uuid:group_id>/members/<uuid:member_id>/remove")
def remove_member(group_id: UUID, member_id: UUID) -> ResponseReturnValue:
    """Take a member out of a group."""
    return attempt(
        lambda session, who, _: enrolling.remove_member(
            session, group_id, member_id, who
        ),
        say("Taken out; the member stays in the congregation."),
        url_for(".detail", group_id=group_id),
    )


@bp.post("/<uuid:group_id>/delete")
def delete(group_id: UUID) -> ResponseReturnValue:
    """Delete a group."""
    return attempt(
        lambda session, who, _: groups.delete_group(session, group_id, who),
        say("The group is deleted; its members stay."),
        url_for(".index"),
    )
