"""Forgetting people who left: when, who is held back, what is done, the ledger."""
