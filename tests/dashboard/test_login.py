from __future__ import annotations

from tests.dashboard.conftest import Browser


def test_an_admin_logs_in_and_sees_the_operators(as_admin: Browser) -> None:
    page = as_admin.get("/operators/")

    assert page.status_code == 200
    assert "admin@example.org" in page.get_data(as_text=True)
