"""Operators: who may log in."""
