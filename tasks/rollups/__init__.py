"""Counts that charts and lateness budgets are made of."""
