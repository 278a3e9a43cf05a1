"""The demo's own settings: its data in a folder of its own, its mail to itself."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tasks.errors import ConfigError

#: Tried first, so that links and bookmarks stay good from one start to the next.
_MAIL_PORT: Final = 8025
_HOOK_PORT: Final = 8026
#: Tells the demo's processes where the receiver of webhooks listens.
_HOOK_SETTING: Final = "DEMO_HOOK_PORT"
_MAIL_SETTING: Final = "DEMO_MAIL_PORT"


@dataclass(frozen=True, slots=True)
class DemoPorts:
    """Where the demo's mail server and its receiver of webhooks listen."""

    mail: int
    hooks: int

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> DemoPorts:
        """Read what ``demo_environ`` chose."""
        return cls(int(environ[_MAIL_SETTING]), int(environ[_HOOK_SETTING]))


def demo_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the demo's processes: nothing leaves the machine.

    Raises:
        ConfigError: production is asked for, or the demo's packages are missing.
    """
    if environ.get("CARILLON_ENV", "").strip() == "production":
        raise ConfigError("CARILLON_ENV is production; the demo belongs elsewhere.")
    ports = DemoPorts(
        _free(int(environ.get(_MAIL_SETTING, _MAIL_PORT))),
        _free(int(environ.get(_HOOK_SETTING, _HOOK_PORT))),
    )
    return {
        **environ,
        "VAR_DIR": environ.get("VAR_DIR") or "var/demo",
        "SMTP_URL": f"smtp://127.0.0.1:{ports.mail}",
        "MAIL_FROM": "St. Bonifatius <carillon@st-bonifatius.example>",
        "WEBHOOK_ALLOW": "127.0.0.0/8",
        "WEBHOOK_HTTP": "1",
        "WEBHOOK_PORTS": str(ports.hooks),
        _MAIL_SETTING: str(ports.mail),
        _HOOK_SETTING: str(ports.hooks),
    }


def _free(wished: int) -> int:
    """Return the wished port, or another one when somebody has it."""
    for port in (wished, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            found: int = probe.getsockname()[1]
            return found
    raise ConfigError("The demo found no free port on 127.0.0.1.")
