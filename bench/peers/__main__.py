"""``python -m bench.peers PEER install`` and ``python -m bench.peers PEER fill N``."""

from __future__ import annotations

import sys
from importlib import import_module

if __name__ == "__main__":
    _, name, verb, *numbers = sys.argv
    peer = import_module(f"bench.peers.{name}")
    getattr(peer, verb)(*map(int, numbers))
