"""Where the demo's mails and webhooks end: on this machine, in a folder."""

from __future__ import annotations

import json
import logging
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from dashboard.demo.people import REFUSED_ADDRESS
from dashboard.demo.settings import DemoPorts

logger = logging.getLogger(__name__)

#: How many mails are kept; the oldest go first.
KEPT_MAILS: Final = 200
#: How often the servers say "not now", so that there is something to try again.
BUSY_MAIL: Final = 0.08
BUSY_HOOK: Final = 0.15


class MailSink:
    """Keeps mails as files; now and then it is busy, and one address it refuses."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder = folder
        self._chance = chance
        self._folder.mkdir(parents=True, exist_ok=True)

    async def handle_RCPT(  # noqa: N802  # aiosmtpd's name
        self,
        server: SMTP,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        if address == REFUSED_ADDRESS:
            return "550 5.1.1 No such mailbox here"
        if self._chance.random() < BUSY_MAIL:
            return "451 4.3.2 Too busy right now, please try again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802  # aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        content = envelope.original_content or b""
        name = message_from_bytes(content)["Message-ID"] or "<no id>"
        safe = "".join(sign for sign in name if sign.isalnum() or sign in "-.@")
        (self._folder / f"{safe[:100]}.eml").write_bytes(content)
        self._forget_old()
        return "250 OK"

    def _forget_old(self) -> None:
        kept = sorted(self._folder.glob("*.eml"), key=lambda path: path.stat().st_mtime)
        for path in kept[:-KEPT_MAILS]:
            path.unlink(missing_ok=True)


def _hook_handler(chance: random.Random) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers like a small web application that is sometimes being deployed."""

        server_version = "demo"
        sys_version = ""
        timeout = 10  # seconds

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path == "/old-calendar":
                self._answer(410, "This address is not used any more.")
            elif chance.random() < BUSY_HOOK:
                self._answer(503, "Being deployed, back in a minute.")
            else:
                self._answer(200, "Thank you.")

        def _answer(self, status: int, words: str) -> None:
            raw = json.dumps({"message": words}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the parent's name
            """Stay silent: the console shows every call."""

    return Handler


@contextmanager
def sinks(ports: DemoPorts, mail_folder: Path, chance: random.Random) -> Iterator[None]:
    """Take mails and webhooks for the length of the block."""
    mail = Controller(MailSink(mail_folder, chance), "127.0.0.1", ports.mail)
    hooks = ThreadingHTTPServer(("127.0.0.1", ports.hooks), _hook_handler(chance))
    hooks.daemon_threads = True
    mail.start()
    threading.Thread(target=hooks.serve_forever, name="hooks", daemon=True).start()
    try:
        yield
    finally:
        mail.stop()
        hooks.shutdown()
        hooks.server_close()
