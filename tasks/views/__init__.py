"""Saved views that warn by mail."""
