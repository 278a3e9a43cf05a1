"""Data transfer: exports, and imports of what was looked at before."""

from dashboard.transfers import download_views, import_views
from dashboard.transfers.views import bp

__all__ = ["bp", "download_views", "import_views"]
