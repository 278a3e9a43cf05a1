"""Downloading: whatever a server says about a file, it is kept or told why not."""

from __future__ import annotations

import io
import ipaddress
from datetime import date

import pytest

from tasks.congregation.addresses.downloading import Downloaded
from tasks.outbound.download import WebDownloader
from tasks.outbound.guard import UrlRules
from tests.support.hook_sink import HookSink, Reply

RULES = UrlRules(allow=(ipaddress.ip_network("127.0.0.0/8"),), http=True)
DOWNLOADER = WebDownloader(RULES, hosts=frozenset({"127.0.0.1"}))


@pytest.mark.parametrize(
    ("told", "day"),
    [
        ("Tue, 10 Mar 2026 12:00:00 GMT", date(2026, 3, 10)),
        ("yesterday", None),
        ("Tue, 10 Mar 99999999999999999999 12:00:00 GMT", None),
        ("Tue, 10 Mar 2026 12:00:00 +99999999999999999", None),
    ],
)
def test_an_odd_date_of_a_file_is_left_out(
    hook_sink: HookSink, told: str, day: date | None
) -> None:
    hook_sink.answer("/file", Reply(body=b"voies", headers={"Last-Modified": told}))
    file = io.BytesIO()
    done = DOWNLOADER.download(hook_sink.url("/file"), file, lambda *_: None)
    assert done == Downloaded(5, day)
    assert file.getvalue() == b"voies"
