"""What the renderer and its child both know; the renderer itself renders nothing."""

from __future__ import annotations

from typing import Final

#: Words of an answer that is no text: why there is none.
MISSING: Final = "missing"
BAD: Final = "bad"
COSTLY: Final = "costly"  # bad, and it took long or much to find out
#: After so many costly messages of the same templates in a batch, its others are too.
COSTLY_MAX: Final = 2
