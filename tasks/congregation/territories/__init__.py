"""Territories, and who works on them."""
