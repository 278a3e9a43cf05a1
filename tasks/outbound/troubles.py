"""What goes wrong on the way to a mail server, in one sentence each."""

from __future__ import annotations

import smtplib
import socket
import ssl

from tasks.outbound.deadline import Deadline
from tasks.outbound.smtp import MailServer


def sentence_for(
    error: Exception, server: MailServer, deadline: Deadline, *, was_handed_over: bool
) -> str:
    """Return a sentence for an error of a connection; it never holds the password.

    Args:
        was_handed_over: The text was on its way, so the mail may have been taken.
    """
    at = f"The mail server at {server.place}"
    if was_handed_over:
        late = deadline.has_passed or isinstance(error, TimeoutError)
        how = "did not confirm in time" if late else "closed the connection"
        return f"{at} {how} after it got the mail; it may have been delivered."
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{at} showed a certificate that is not trusted: {error.verify_message}."
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return f"{at} does not offer what SMTP_URL asks for: {error}"
    return f"{at} cannot be reached ({_why(error, deadline)})."


def _why(error: Exception, deadline: Deadline) -> str:
    if deadline.has_passed or isinstance(error, TimeoutError):
        return f"no answer within {deadline.seconds:g} seconds"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, socket.gaierror):
        return "there is no such host"
    if isinstance(error, ssl.SSLError):
        return "TLS could not be agreed on"
    if isinstance(error, smtplib.SMTPServerDisconnected | ConnectionError):
        return "it closed the connection"
    return (getattr(error, "strerror", None) or type(error).__name__).lower()
