"""Operators and their sessions."""
