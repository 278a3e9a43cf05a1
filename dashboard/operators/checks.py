"""What an operator's address and password must look like."""

from __future__ import annotations

from email_validator import EmailNotValidError, validate_email

from dashboard.operators.passwords import weakness
from tasks.errors import InvalidInput
from tasks.saying import say


def checked_email(email: str) -> str:
    """Return the address in lower case.

    Raises:
        InvalidInput: it is no e-mail address.
    """
    try:
        found = validate_email(email.strip(), check_deliverability=False)
    except EmailNotValidError as error:
        raise InvalidInput(
            "bad_email",
            say("Give an e-mail address, such as name@example.org."),
            field="email",
        ) from error
    return found.normalized.lower()


def checked_password(password: str, email: str) -> str:
    """Return the password as it is.

    Raises:
        InvalidInput: it is too short, too long or too common.
    """
    if sentence := weakness(password, email):
        raise InvalidInput("weak_password", sentence, field="password")
    return password
