"""Failures by cause: noted as they happen, read, acknowledged and retried as groups."""
