"""First words of a mail: in the congregation's language, and good as they are."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from dashboard.rules.drafts import draft
from tasks.automation.actions import ACTIONS
from tasks.automation.triggers import TRIGGERS
from tests.dashboard.rules.conftest import soup
from tests.support import factories


def test_a_new_form_brings_first_words_in_the_congregations_language(
    as_operator: FlaskClient, sqlite_engine: Engine
) -> None:
    with Session(sqlite_engine) as session, session.begin():
        factories.congregation(session, "paroisse", locale="fr")
    page = soup(as_operator.get("/rules/new"))

    subject, text = page.select_one("#subject"), page.select_one("#text")
    assert subject is not None
    assert text is not None
    assert "confirmé" in str(subject["value"])
    assert text.text.strip().startswith("Bonjour")


@pytest.mark.parametrize("locale", ["en", "fr"])
@pytest.mark.parametrize("trigger", TRIGGERS)
def test_first_words_can_be_saved_as_they_are(trigger: str, locale: str) -> None:
    words_ = draft(trigger, locale)

    assert words_ is not None
    settings = {
        "recipient": words_.recipient,
        "address": "office@example.org" if words_.recipient == "fixed" else "",
        "subject": words_.subject,
        "text": words_.text,
        "html": "",
    }
    assert ACTIONS["email"].check(settings, trigger) == {}
