"""Producers never raise into their caller: a savepoint and an answer instead."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from tasks.db import savepoint
from tasks.errors import InvalidInput

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")


def guarded(
    session: Session,
    work: Callable[[], Answer],
    refused: Callable[[str, str], Answer],
    *,
    changes_objects: bool = True,
) -> Answer:
    """Return what ``work`` returns, or ``refused(code, sentence)`` when it fails.

    Whatever it had written by then is taken back, and the caller's own changes stay.
    What is pending in the session is flushed first: those errors are the caller's.

    Args:
        changes_objects: false where ``work`` writes with statements alone.
    """
    session.flush()
    try:
        with session.begin_nested() if changes_objects else savepoint(session):
            return work()
    except InvalidInput as error:
        return refused(error.code, error.message)
    except OperationalError:
        logger.exception("automation.database_failed")
        return refused(
            "database_unavailable", "The database did not answer; try again later."
        )
    except Exception:
        # A bug of ours: the caller's own work must go on, so it is told and logged.
        logger.exception("automation.producer_failed")
        return refused(
            "internal_error", "This could not be taken because of an error of ours."
        )
