"""Routes that the consoles of all tests share, since each console makes them anew.

What werkzeug compiles for a route depends on its text alone; compiling the hundreds of
routes of one console takes longer than most tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from werkzeug.routing import Rule

_compiled: dict[tuple[Any, ...], Callable[..., tuple[str, str]]] = {}


class SharedRule(Rule):
    """A route that is compiled once in a test process."""

    def _compile_builder(
        self, append_unknown: bool = True
    ) -> Callable[..., tuple[str, str]]:
        told = (self.rule, self.subdomain, self.host, repr(self.defaults))
        key = (*told, append_unknown)
        if key not in _compiled:
            _compiled[key] = super()._compile_builder(append_unknown)
        return _compiled[key]
