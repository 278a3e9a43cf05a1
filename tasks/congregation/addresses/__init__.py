"""Addresses from open data: read, compared, applied in one transaction."""
