"""The board's pages: uploads, cards, documents, versions, sections, files."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from flask import Flask
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from dashboard.operators.models import RoleName
from tasks.clock import utcnow
from tasks.config import Config
from tasks.congregation.documents.rendering.renderer import Refused
from tasks.db import sessions
from tasks.lanes import janitor, thumbnail
from tasks.models import (
    BoardSection,
    Congregation,
    Document,
    StoredFile,
    ThumbnailReason,
    ThumbnailState,
)
from tasks.storage.local import LocalStorage
from tests.dashboard.conftest import Browser
from tests.support import pdfs
from tests.support.board_rows import PICTURE, FakeRenderer
from tests.support.fakes import FakePost, bench

PDF = pdfs.pdf()
GOOD = {"title": "Roster", "new_section": "Plans", "position": "0"}


class Board:
    """What a test does to the board of St Mary."""

    def __init__(self, engine: Engine, config: Config, of: Congregation) -> None:
        self.engine, self.of = engine, of
        self.storage = LocalStorage(config.var_dir / "files")

    def post(
        self, browser: Browser, content: bytes | None = PDF, **values: Any
    ) -> TestResponse:
        data = {**GOOD, **values}
        if content is not None:
            data["file"] = (io.BytesIO(content), values.pop("filename", "roster.pdf"))
        return browser.post(f"/board/{self.of.slug}/new", data=data)

    def put_up(self, browser: Browser, **values: Any) -> str:
        """Put a document up; returns its page's path."""
        answer = self.post(browser, **values)
        assert answer.status_code == 303, answer.get_data(as_text=True)
        return str(answer.location)

    def draw(self, renderer: FakeRenderer | None = None) -> None:
        work = bench(
            sessions(self.engine),
            utcnow,
            FakePost(),
            storage=self.storage,
            renderer=renderer or FakeRenderer(),
        )
        thumbnail.sweep(work, 10)
        janitor.sweep(work, 100)

    def count(self, model: Any) -> int:
        with Session(self.engine) as session:
            return session.scalar(select(func.count()).select_from(model)) or 0


@pytest.fixture
def board(sqlite_engine: Engine, config: Config, congregation: Congregation) -> Board:
    return Board(sqlite_engine, config, congregation)


def soup(browser: Browser, path: str, **options: Any) -> BeautifulSoup:
    answer = browser.get(path, **options)
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return BeautifulSoup(answer.get_data(as_text=True), "html.parser")


def text_of(found: Any) -> str:
    return " ".join(found.get_text().split())


def test_a_document_goes_up_and_gets_its_picture(
    board: Board, as_operator: Browser
) -> None:
    assert "The board is empty" in soup(as_operator, "/board/").text
    path = board.put_up(as_operator)
    page = soup(as_operator, path)
    assert "“Roster” is on the board." in page.text
    assert page.select_one("#thumbnail")["hx-get"] == path
    assert "Thumbnail to come" in soup(as_operator, "/board/").text
    board.draw()
    fragment = soup(as_operator, path, headers={"HX-Request": "true"})
    assert fragment.select_one("h1") is None
    assert "hx-get" not in fragment.select_one("#thumbnail").attrs
    cards = soup(as_operator, "/board/")
    assert text_of(cards.select_one("h2.board-section")) == "Plans"
    picture = as_operator.get(cards.select_one(".sheet img")["src"])
    assert picture.data == PICTURE.data
    assert picture.mimetype == "image/png"
    assert picture.headers["Cache-Control"] == "private, no-cache"
    again = as_operator.get(
        cards.select_one(".sheet img")["src"],
        headers={"If-None-Match": picture.headers["ETag"]},
    )
    assert (again.status_code, again.data) == (304, b"")


def test_wrong_input_is_told_at_its_field_and_nothing_is_kept(
    board: Board, as_operator: Browser
) -> None:
    for content, values, words in (
        (None, {}, "Choose a file."),
        (b"", {}, "The file is empty."),
        (b"<html>", {}, "This is not a PDF."),
        (PDF, {"title": " "}, "The title is needed."),
        (PDF, {"title": "x" * 201}, "at most 200 characters"),
        (PDF, {"new_section": ""}, "Name the board's first section."),
        (PDF, {"new_section": "y" * 121}, "at most 120 characters"),
        (PDF, {"position": "first"}, "Give a whole number."),
        (PDF, {"position": "-1"}, "from 0 to 9999"),
        (PDF, {"visible_from": "soon"}, "Give a day, such as"),
        (
            PDF,
            {"visible_from": "2026-03-10", "visible_until": "2026-03-09"},
            "before the first one",
        ),
    ):
        answer = board.post(as_operator, content, **values)
        assert answer.status_code == 422
        page = BeautifulSoup(answer.get_data(as_text=True), "html.parser")
        errors = page.select("[data-invalid] .field-error")
        assert words in " ".join(text_of(each) for each in errors)
    assert board.count(Document) == 0
    assert list(board.storage.keys("")) == []


def test_a_file_that_is_too_large_is_refused_in_words(
    app: Flask, board: Board, as_operator: Browser
) -> None:
    app.config["CARILLON"] = replace(app.config["CARILLON"], upload_limit=20_000)
    answer = board.post(as_operator, PDF + b" " * 20_000)
    assert answer.status_code == 422
    assert "The file is larger than 20 kB." in answer.get_data(as_text=True)
    answer = board.post(as_operator, PDF + b" " * 200_000)
    assert answer.status_code == 413
    assert "The file is larger than 20\xa0kB. Nothing" in answer.get_data(as_text=True)


def test_nobody_uploads_without_a_login(board: Board, client: Browser) -> None:
    answer = board.post(client)
    assert answer.status_code == 303
    assert answer.location.endswith("/login")


def test_a_viewer_looks_and_downloads_but_changes_nothing(
    board: Board, as_operator: Browser, as_viewer: Browser
) -> None:
    path = board.put_up(as_operator)
    page = soup(as_viewer, path)
    assert page.select_one("form[action$='/replace']") is None
    assert as_viewer.get(f"{path}/download").data == PDF
    for verb in ("replace", "delete", "edit", "thumbnail"):
        assert as_viewer.post(f"{path}/{verb}").status_code == 403
    assert board.post(as_viewer).status_code == 403


def test_a_download_is_an_attachment_that_runs_nothing(
    board: Board, as_operator: Browser
) -> None:
    path = board.put_up(as_operator, filename='Pl\u00e4ne "x".pdf')
    answer = as_operator.get(f"{path}/download")
    assert answer.mimetype == "application/pdf"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.content_length == len(PDF)
    told = answer.headers["Content-Disposition"]
    assert told.startswith("attachment; ")
    assert "filename*=UTF-8''Pl%C3%A4ne" in told
    for key in board.storage.keys(""):
        board.storage.delete(key)
    gone = as_operator.get(f"{path}/download", follow_redirects=True)
    assert "not in the storage any more" in gone.get_data(as_text=True)


def test_a_failed_thumbnail_says_why_and_can_be_tried_again(
    board: Board, as_operator: Browser
) -> None:
    path = board.put_up(as_operator)
    board.draw(FakeRenderer(Refused(ThumbnailReason.PASSWORD)))
    page = soup(as_operator, path)
    assert "needs a password" in text_of(page.select_one("#thumbnail-trouble"))
    assert "needs a password" in soup(as_operator, "/board/").text
    again = as_operator.post(f"{path}/thumbnail", follow_redirects=True)
    assert "is tried again" in again.get_data(as_text=True)
    board.draw()
    assert soup(as_operator, path).select_one(".sheet img") is not None
    once_more = as_operator.post(f"{path}/thumbnail", follow_redirects=True)
    assert "there, or on its way" in once_more.get_data(as_text=True)


def test_thumbnails_that_may_be_drawn_by_now_are_asked_for_together(
    board: Board, as_operator: Browser
) -> None:
    path = board.put_up(as_operator)
    assert "missing thumbnail" not in soup(as_operator, "/board/").text
    with Session(board.engine) as session, session.begin():
        file = session.scalars(select(StoredFile)).one()
        file.thumbnail_state = ThumbnailState.FAILED
        file.thumbnail_reason = ThumbnailReason.TOOL_MISSING
    assert "Draw 1 missing thumbnail" in soup(as_operator, "/board/").text
    answer = as_operator.post("/board/thumbnails", follow_redirects=True)
    assert "1 thumbnail on the way." in answer.get_data(as_text=True)
    board.draw()
    assert soup(as_operator, path).select_one(".sheet img") is not None


def test_a_replaced_file_stays_as_a_version_that_can_be_taken_back(
    board: Board, as_operator: Browser
) -> None:
    path = board.put_up(as_operator)
    other = pdfs.pdf(content="")
    for content, words in (
        (None, "Choose a file."),
        (b"x", "not a PDF"),
        (PDF, "this very file"),
    ):
        data = {"file": (io.BytesIO(content), "a.pdf")} if content else {}
        answer = as_operator.post(f"{path}/replace", data=data)
        assert answer.status_code == 422
        assert words in answer.get_data(as_text=True)
    data = {"file": (io.BytesIO(other), "new.pdf")}
    assert as_operator.post(f"{path}/replace", data=data).status_code == 303
    assert as_operator.get(f"{path}/download").data == other
    assert as_operator.get(f"{path}/versions/1/download").data == PDF
    assert as_operator.get(f"{path}/versions/7/download").status_code == 404
    assert as_operator.post(f"{path}/versions/1/take-back").status_code == 303
    assert as_operator.post(f"{path}/versions/1/take-back").status_code == 409
    assert as_operator.get(f"{path}/download").data == PDF
    assert len(soup(as_operator, path).select(".versions > li")) == 3


def test_a_document_is_changed_unless_somebody_else_did(
    board: Board, as_operator: Browser
) -> None:
    path = board.put_up(as_operator)
    form = soup(as_operator, f"{path}/edit").select_one("main form")
    section = form.select_one("option[selected]")["value"]
    new = GOOD | {"title": "Plan B", "section": section, "new_section": ""}
    for version, status in (("1", 303), ("1", 422), ("x", 422)):
        answer = as_operator.post(f"{path}/edit", data=new | {"version": version})
        assert answer.status_code == status
    assert "changed the document meanwhile" in answer.get_data(as_text=True)
    answer = as_operator.post(f"{path}/edit", data=new | {"section": "x"})
    assert "Choose one of the board" in answer.get_data(as_text=True)
    assert soup(as_operator, path).select_one("h1").text == "Plan B"


def test_a_removed_document_takes_its_files_along(
    board: Board, as_operator: Browser
) -> None:
    path = board.put_up(as_operator)
    board.draw()
    assert as_operator.post(f"{path}/delete").status_code == 303
    assert as_operator.get(path).status_code == 404
    board.draw()
    assert list(board.storage.keys("")) == []
    assert board.count(StoredFile) == 0


def test_each_tab_shows_its_documents_and_the_filter_forgives(
    board: Board, as_operator: Browser
) -> None:
    today = utcnow().date()

    def put(title: str, content: str, **days: int) -> None:
        values = {name: str(today + timedelta(days=n)) for name, n in days.items()}
        board.put_up(
            as_operator, title=title, content=pdfs.pdf(content=content), **values
        )

    put("Équipe", "a")
    put("Near", "b", visible_until=3)
    put("Far", "c", visible_until=30)
    put("Next", "d", visible_from=5)
    put("Past", "e", visible_until=-5)

    def shown(query: str) -> set[str]:
        page = soup(as_operator, f"/board/?{query}")
        return {text_of(each) for each in page.select(".card-words > a")}

    assert shown("") == {"Équipe", "Near", "Far"}
    assert shown("tab=soon") == {"Near"}
    assert shown("tab=later") == {"Next"}
    assert shown("tab=ended") == {"Past"}
    assert len(shown("tab=all")) == 5
    assert shown("q=equipe") == {"Équipe"}
    assert shown("q=%25&tab=nonsense") == set()
    assert as_operator.get("/board/?cursor=x").status_code == 400


def test_sections_are_named_ordered_and_removed_when_empty(
    board: Board, as_operator: Browser
) -> None:
    board.put_up(as_operator)
    base = f"/board/{board.of.slug}/sections"
    assert as_operator.post(base, data={"name": "News"}).status_code == 303
    assert as_operator.post(base, data={"name": ""}).status_code == 422
    page = soup(as_operator, base)
    names = [each["value"] for each in page.select(".section-list [name=name]")]
    assert names == ["Plans", "News"]
    plans, news = (form["action"] for form in page.select("form.section-row"))
    for data, words in (
        ({"name": "Plans", "position": "1"}, "There is a section “Plans” already."),
        ({"name": "News", "position": "x"}, "Give a whole number."),
        ({"name": "Latest", "position": "0"}, "“Latest” is saved."),
    ):
        answer = as_operator.post(news, data=data, follow_redirects=True)
        assert words in answer.get_data(as_text=True)
    in_use = as_operator.post(f"{plans}/remove")
    assert in_use.status_code == 409
    assert "Move them to another section first" in in_use.get_data(as_text=True)
    assert as_operator.post(f"{news}/remove").status_code == 303
    assert board.count(BoardSection) == 1


def test_whose_board_it_is_must_be_chosen_when_there_are_several(
    board: Board, as_operator: Browser, sqlite_engine: Engine
) -> None:
    only = as_operator.get("/board/new")
    assert only.location == f"/board/{board.of.slug}/new"
    with Session(sqlite_engine) as session, session.begin():
        session.add(Congregation(slug="st-paul", name="St Paul", timezone="UTC"))
    page = soup(as_operator, "/board/new")
    assert len(page.select("main li a")) == 2
    chosen = as_operator.get("/board/new?congregation=st-paul")
    assert chosen.location == "/board/st-paul/new"


def test_a_storage_that_does_not_answer_is_told_and_nothing_saved(
    board: Board, as_operator: Browser, config: Config
) -> None:
    (config.var_dir / "files").parent.mkdir(exist_ok=True)
    Path(config.var_dir / "files").touch()
    answer = board.post(as_operator)
    assert answer.status_code == 503
    assert "does not answer" in answer.get_data(as_text=True)
    assert board.count(Document) == 0


def test_operators_of_other_congregations_see_nothing(
    board: Board,
    as_operator: Browser,
    log_in: Callable[..., Browser],
    sqlite_engine: Engine,
) -> None:
    path = board.put_up(as_operator)
    board.draw()
    other = Congregation(slug="st-paul", name="St Paul", timezone="UTC")
    with Session(sqlite_engine, expire_on_commit=False) as session, session.begin():
        session.add(other)
    source = soup(as_operator, path).select_one(".sheet img")["src"]
    stranger = log_in(
        RoleName.OPERATOR,
        email="paul@example.org",
        sees_all=False,
        congregations=[other.id],
    )
    assert "The board is empty" in soup(stranger, "/board/").text
    for address in (path, f"{path}/download", f"{path}/versions/1/download", source):
        assert stranger.get(address).status_code == 404
    assert board.post(stranger).status_code == 404
    assert stranger.post(f"{path}/delete").status_code == 404
