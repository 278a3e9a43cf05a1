"""Addresses: the list, where the congregation is, and syncs with open data."""

from dashboard.addresses import area_views, report_views, sync_views
from dashboard.addresses.views import bp

__all__ = ["area_views", "bp", "report_views", "sync_views"]
