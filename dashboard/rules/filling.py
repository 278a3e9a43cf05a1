"""Filling the form: choices from the database, first words."""

from __future__ import annotations

from collections.abc import Sequence

from wtforms import SelectChoice

from dashboard.rules.drafts import draft, is_untouched
from dashboard.rules.forms import RuleForm
from dashboard.rules.samples import INVENTED, Sample
from dashboard.rules.scope import Place, podcasts_of, scope_choices
from tasks.saying import say


def offer_places(form: RuleForm, found: Sequence[Place]) -> None:
    """Say where the rule may apply; the first place is chosen when none is."""
    form.scope.choices = scope_choices(found, several=True)
    if found and not form.scope.data:
        form.scope.data = found[0].value
    place = form.place
    form.podcasts.choices = [
        SelectChoice(one.podcast_id, one.title)
        for one in (podcasts_of(found, place.congregation_id) if place else ())
    ]


def offer_samples(form: RuleForm, found: Sequence[Sample]) -> None:
    """Say what the rule may be tried on; the newest is chosen when none is."""
    form.sample.choices = [
        *(SelectChoice(one.id, one.label) for one in found),
        SelectChoice(INVENTED, say("Invented values")),
    ]
    offered = {choice.value for choice in form.sample.choices}
    if form.sample.data not in offered:
        form.sample.data = found[0].id if found else INVENTED


def write_draft(form: RuleForm, locale: str) -> None:
    """Write first words for the trigger where nobody has written yet."""
    words = draft(form.trigger_type.data or "", locale)
    if words and is_untouched(form.subject.data or "", form.text.data or ""):
        form.subject.data, form.text.data = words.subject, words.text
        if form.recipient.data != "fixed":
            form.recipient.data = words.recipient
