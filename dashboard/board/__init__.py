"""The document board: cards, documents, their versions, sections and files."""

from dashboard.board import document_views, file_views, section_views
from dashboard.board.views import bp

__all__ = ["bp", "document_views", "file_views", "section_views"]
