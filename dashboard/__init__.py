"""What operators see: pages, forms and the HTTP API; ``app`` puts them together.

Nothing is imported here: the worker is started from ``cli``, and needs none of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
