"""Archives written by hand, and two rows that many of them have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support import archives

ADA = {"id": "1", "first_name": "Ada", "last_name": "Lamp"}
GROUP = {"id": "g", "name": "North", "responsible_id": "1"}


def archive_of(
    tmp_path: Path,
    entities: dict[str, list[dict[str, Any]]],
    *files: bytes,
    **said: Any,
) -> bytes:
    path = archives.write(tmp_path / "made.carillon", entities, files, **said)
    return path.read_bytes()
