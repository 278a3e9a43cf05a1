"""Outreach: whom agents write to, and when they want to be woken to do so."""
