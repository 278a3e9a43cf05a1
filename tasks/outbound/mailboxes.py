"""Which text is one e-mail address that a mail may go to."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from email_validator import EmailNotValidError, ValidatedEmail, validate_email

from tasks.outbound.mailbox_words import why_no_address
from tasks.saying import say

ADDRESS_MAX: Final = 254  # characters; RFC 5321
_LIST: Final = re.compile(r"[,;:<>]")


class BadAddress(ValueError):
    """The text is not one plain e-mail address; says why in a sentence."""


@lru_cache(maxsize=4096)  # each send asks again, and checking costs as much as a text
def read_address(text: str) -> str:
    """Return ``text`` as one address, its domain in ASCII.

    No name beside it, no list, no group, no quoted part, no number instead of a
    domain.  Whether the mailbox exists is not asked, nor whether our mail server can
    send to letters beyond ASCII before the @.

    Raises:
        BadAddress: it is something else.
    """
    if len(text) > ADDRESS_MAX:
        raise BadAddress(
            say("An e-mail address has at most %(max)s characters.", max=ADDRESS_MAX)
        )
    if not text.isprintable():
        raise BadAddress(say("The e-mail address contains control characters."))
    if _LIST.search(text):
        raise BadAddress(say("Give one e-mail address, without a name beside it."))
    if text.startswith("-"):
        raise BadAddress(say("An e-mail address must not begin with a hyphen."))
    if text != text.strip():
        raise BadAddress(say("The e-mail address has spaces around it."))
    try:
        read = validate_email(
            text,
            strict=True,
            check_deliverability=False,
            allow_smtputf8=True,
            allow_quoted_local=False,
            allow_domain_literal=False,
            # Names such as mail.test are a matter of the mail server, not of form.
            test_environment=True,
        )
    except EmailNotValidError as error:
        told = say(
            "This is not an e-mail address: %(error)s", error=why_no_address(error)
        )
        raise BadAddress(told) from error
    return one_spelling(read)


def one_spelling(read: ValidatedEmail) -> str:
    """Return an address as it is kept: its domain in ASCII, so that equal ones are one.

    Its length in this spelling was checked with the others.
    """
    return f"{read.local_part}@{read.ascii_domain}"


def normal_address(text: str) -> str:
    """Return the form in which addresses are compared: small letters, ASCII domain.

    Tags behind a plus and dots stay: what they mean is the mail server's affair.

    Raises:
        BadAddress: it is not one plain e-mail address.
    """
    return read_address(text.strip()).lower()
