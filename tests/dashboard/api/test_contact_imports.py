"""Lists of contacts over HTTP: one result a row, merged or skipped, and taken back."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from tasks.models import AuditEntry, Contact, Engagement
from tests.dashboard.api.caller import Api, error_of

IMPORT = "/contacts/import"
CSV = {"Content-Type": "text/csv"}


def _take(api: Api, rows: Any, query: str = "") -> Any:
    answer = api.post(f"{IMPORT}?{query}", {"contacts": rows})
    assert answer.status_code == 200, answer.text
    return answer.json


def _outcomes(taken: Any) -> list[str]:
    return [row["outcome"] for row in taken["results"]]


def test_each_row_has_its_result_and_a_bad_one_holds_up_no_other(api: Api) -> None:
    taken = _take(
        api,
        [
            {"address": "Zoe@Example.org", "display_name": "Zoe"},
            {"address": "nobody"},
            {"address": "zoe@example.org"},
            {"address": "max@example.org", "metadata": {"x": "y" * 20_000}},
            {"address": "ida@example.org", "colour": "red"},
            {"address": "ida@example.org", "stage": "new"},
            {},
            {"address": "max@example.org"},
        ],
    )
    codes = [row["error"] and row["error"]["code"] for row in taken["results"]]
    assert codes == [
        None,
        "email_invalid",
        "listed_twice",
        "metadata_too_large",
        "unknown_field",
        "no_agent",
        "email_invalid",
        None,
    ]
    assert taken["counts"] == {"created": 2, "refused": 6}
    assert taken["results"][0]["address"] == "zoe@example.org"


def test_known_contacts_are_merged_or_skipped(api: Api) -> None:
    api.put("/contacts/zoe@example.org", {"display_name": "Old", "metadata": {"a": 1}})
    row = {"address": "zoe@example.org", "display_name": "New"}
    assert _outcomes(_take(api, [row], "mode=skip")) == ["skipped"]
    assert api.get("/contacts/zoe@example.org").json["display_name"] == "Old"
    assert _outcomes(_take(api, [row])) == ["changed"]
    assert _outcomes(_take(api, [row])) == ["unchanged"]
    now = api.get("/contacts/zoe@example.org").json
    assert (now["display_name"], now["metadata"]) == ("New", {"a": 1})


def test_a_list_enrols_and_leaves_schedules_alone_when_it_skips(api: Api) -> None:
    agent = "agent=sales@agents.org"
    row = {"address": "zoe@example.org", "next_action_at": "2026-03-12T14:00:00Z"}
    assert _outcomes(_take(api, [row], agent)) == ["created"]
    one = "/agents/sales@agents.org/contacts/zoe@example.org"
    assert api.get(one).json["state"] == "armed"
    later = row | {"next_action_at": "2026-04-12T14:00:00Z"}
    assert _outcomes(_take(api, [later], f"{agent}&mode=skip")) == ["skipped"]
    assert api.get(one).json["next_action_at"].startswith("2026-03")
    assert _outcomes(_take(api, [later], agent)) == ["changed"]
    wrong = row | {"next_action_at": "soon"}
    assert _outcomes(_take(api, [wrong], agent)) == ["refused"]
    naive = row | {"next_action_at": "2026-03-12T14:00"}
    assert _outcomes(_take(api, [naive], agent)) == ["refused"]


@pytest.mark.parametrize(
    "text",
    [
        "Name,E-Mail\nZoe,zoe@example.org\nMax,nobody\n,\n",
        "E-Mail;Nom;Étape\nzoe@example.org;Zoe\nnobody;Max",
        "\ufeffemail\tname\nzoe@example.org\tZoe\nnobody",
    ],
)
def test_a_csv_file_is_read_whatever_program_wrote_it(api: Api, text: str) -> None:
    answer = api.call("POST", IMPORT, data=text.encode(), headers=CSV)
    assert answer.status_code == 200, answer.text
    assert _outcomes(answer.json) == ["created", "refused"]
    assert api.get("/contacts/zoe@example.org").json["display_name"] == "Zoe"


@pytest.mark.parametrize("data", [b"", b"Name\nZoe", b"\0\1\2\3", b'"', b"PK\x03\x04"])
def test_what_is_no_list_is_refused(api: Api, data: bytes) -> None:
    assert error_of(api.call("POST", IMPORT, data=data, headers=CSV), 422)


def test_an_open_quotation_mark_swallows_no_contacts(api: Api) -> None:
    data = b'email,notes\nzoe@example.org,"likes bells\nmax@example.org,\n'
    error = error_of(api.call("POST", IMPORT, data=data, headers=CSV), 422)
    assert "never closed" in error["message"]
    assert api.get("/contacts").json["contacts"] == []


def test_a_comma_too_many_moves_no_cell_into_another_column(api: Api) -> None:
    data = b"\nemail,name,stage\nzoe@example.org,Lee, Zoe,lead\nmax@example.org\n"
    path = f"{IMPORT}?agent=sales@agents.org"
    taken = api.call("POST", path, data=data, headers=CSV).json
    assert _outcomes(taken) == ["refused", "created"]
    assert "4 cells" in taken["results"][0]["error"]["message"]


def test_a_file_that_is_too_long_tells_how_long_it_is(api: Api) -> None:
    data = b"email\n" + b"".join(b"g%d@example.org\n" % n for n in range(1_100))
    error = error_of(api.call("POST", IMPORT, data=data, headers=CSV), 422)
    assert "1\u202f100" in error["message"]


@pytest.mark.parametrize(
    "body", [[], {}, {"contacts": []}, {"contacts": [1]}, {"contacts": [], "x": 1}]
)
def test_what_holds_no_contacts_is_refused(api: Api, body: Any) -> None:
    assert error_of(api.post(IMPORT, body), 422)


def test_a_list_has_its_limit(api: Api) -> None:
    rows = [{"address": f"g{n}@example.org"} for n in range(1_001)]
    error = error_of(api.post(IMPORT, {"contacts": rows}), 422)
    assert error["problems"][0]["code"] == "too_many_rows"
    taken = _take(api, rows[:1_000])
    assert taken["counts"] == {"created": 1_000}
    assert error_of(api.post(f"{IMPORT}?mode=replace", {"contacts": rows[:1]}), 422)


def test_the_same_request_again_imports_nothing_twice(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    key = {"Idempotency-Key": "list-1"}
    rows = {"contacts": [{"address": "zoe@example.org"}]}
    first = api.post(IMPORT, rows, headers=key)
    assert api.post(IMPORT, rows, headers=key).json == first.json
    with make_db() as session:
        entries = session.scalars(
            select(AuditEntry).filter_by(subject_kind="contact_import")
        )
        assert [entry.action for entry in entries] == ["contacts.imported"]


def test_taking_a_list_back_removes_what_nobody_has_touched(
    api: Api, make_db: sessionmaker[Session]
) -> None:
    api.put("/contacts/known@example.org", {"display_name": "Known"})
    names = ("known", "clean", "changed", "moved", "engaged")
    rows = [{"address": f"{name}@example.org", "display_name": name} for name in names]
    taken = _take(api, rows, "agent=sales@agents.org")
    api.put("/contacts/changed@example.org", {"display_name": "By hand"})
    agents = "/agents/{}@agents.org/contacts/{}@example.org"
    api.put(agents.format("sales", "moved"), {"stage": "warm"})
    api.put(agents.format("other", "engaged"), {})

    undo = f"/contact-imports/{taken['import_id']}/undo"
    done = api.post(undo).json

    assert done == {
        "contacts_removed": 1,
        "engagements_removed": 4,
        "contacts_kept": 3,
    }
    with make_db() as session:
        left = {each.address.split("@")[0] for each in session.scalars(select(Contact))}
        assert left == {"known", "changed", "moved", "engaged"}
        assert len(session.scalars(select(Engagement)).all()) == 2
    assert error_of(api.post(undo), 409)["code"] == "import_undone"
    assert error_of(api.post("/contact-imports/x/undo"), 404)
