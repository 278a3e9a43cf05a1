"""Operations: one verb on many rows, asked about, watched, stopped and resumed."""

from dashboard.operations.views import bp

__all__ = ["bp"]
