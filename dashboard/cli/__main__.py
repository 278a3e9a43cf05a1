"""Lets ``python -m dashboard.cli`` do what ``carillon`` does."""

from __future__ import annotations

from dashboard.cli import main

main()
