"""The page behind the link in a mail that ends such mails."""

from dashboard.unsubscribe.views import bp

__all__ = ["bp"]
