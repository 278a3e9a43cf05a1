"""Notification mails: what is told, when it leaves, and who gets it in which words."""

from tasks.congregation.notifications.telling import News, Told, notify, notify_all

__all__ = ["News", "Told", "notify", "notify_all"]
