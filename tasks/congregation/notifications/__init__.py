"""Notification mails: what is told, when it leaves, and who gets it in which words."""

from tasks.congregation.notifications.news import News
from tasks.congregation.notifications.telling import Told, notify, notify_all

__all__ = ["News", "Told", "notify", "notify_all"]
