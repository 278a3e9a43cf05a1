"""What holds for every text of a rule."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from tasks.saying import say

_LAYOUT: Final = str.maketrans("", "", "\n\r\t")


def unprintable(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts that hold control characters other than lines and tabs."""
    return {
        name: say("This holds characters that do not print; type it anew.")
        for name, text in settings.items()
        if isinstance(text, str)
        and any(unicodedata.category(c) == "Cc" for c in text.translate(_LAYOUT))
    }
