"""Searching lists: what is typed, which fields there are, and what it means in SQL."""
