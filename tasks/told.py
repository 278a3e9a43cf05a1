"""Errors that rows keep in English, said in the language of who reads them.

A worker does not know who will read why something failed.  What servers themselves
answered stays as they said it.
"""

from __future__ import annotations

import re
from typing import Final

from tasks.automation import guest_tokens
from tasks.saying import language, mark, say

#: What the engine writes, the narrower before the wider.
_SENTENCES: Final = (
    mark("The address answered 410: it is gone for good."),
    mark("The address answered with a redirect (%(status)s); set the final address."),
    mark("The address answered %(status)s."),
    mark("The mail server refused the mail for good: %(answer)s"),
    mark("The mail server refused the mail for now: %(answer)s"),
    mark(
        "The mail server at %(place)s cannot send to an address with letters like é or "
        "ö before the @ (it offers no internationalized mail). Use another address, or "
        "a mail server that can."
    ),
    mark("The mail server at %(place)s refused the login in SMTP_URL: %(answer)s"),
    mark("The mail server at %(place)s refused to serve us: %(answer)s"),
    mark(
        "The mail server at %(place)s did not confirm in time after it got the mail; "
        "it may have been delivered."
    ),
    mark(
        "The mail server at %(place)s closed the connection after it got the mail; "
        "it may have been delivered."
    ),
    mark(
        "The mail server at %(place)s showed a certificate that is not trusted: "
        "%(why)s."
    ),
    mark("The mail server at %(place)s does not offer what SMTP_URL asks for: %(why)s"),
    mark("The mail server at %(place)s cannot be reached (%(why)s)."),
    mark("The mail could not be put together: %(why)s"),
    mark("It ended with an error in the program, see the worker's log."),
    guest_tokens.ELSEWHERE,
    mark("The worker did not come back."),
    mark("The worker vanished before the effect began."),
    mark("The worker vanished after the effect began; whether it arrived is unknown."),
    mark("The worker vanished while it was sending; it may have arrived."),
    mark(
        "The same piece failed %(n)s times; the runs of the lane “operations” say why. "
        "Nothing of that piece was changed."
    ),
    mark("Congregation %(id)s, and %(n)s more congregations failed: %(why)s"),
    mark("Congregation %(id)s failed: %(why)s"),
    mark("Waits for its turn: the rule acts at most %(n)s times in %(span)s minutes."),
    mark("Waits for %(host)s, which does not answer."),
    mark("Held by %(who)s: %(reason)s"),
    mark("The bucket cannot be reached (%(why)s)."),
    mark("%(place)s cannot be reached (%(why)s)."),
    mark("%(place)s cannot be reached."),
    mark("%(place)s did not answer within %(seconds)s seconds."),
    mark("%(place)s gave no proper answer."),
    mark("no answer within %(seconds)s seconds"),
    mark("connection refused"),
    mark("there is no such host"),
    mark("TLS could not be agreed on"),
    mark("it closed the connection"),
    # What became of looks at feeds.
    mark("%(host)s answered %(status)s."),
    mark("%(host)s sent it packed, although asked not to."),
    mark("The answer has %(n)s MB or more, which is too large."),
    mark("The address led on more than %(max)s times."),
    mark("The certificate of %(host)s cannot be trusted."),
    mark("%(host)s cannot be reached, or cut the answer off."),
    mark("The feed is not well-formed XML: %(what)s in line %(line)s."),
    mark("This is no feed: it begins with <%(name)s>."),
    mark("The feed has more than %(n)s levels."),
    # What calls of booking services came to.
    mark("“%(event)s” does not concern bookings."),
    mark("The event type “%(name)s” is not listed for it."),
    mark("%(field)s must be a date and time with an offset."),
)
_VALUE: Final = re.compile(r"%\\\((\w+)\\\)s")
#: What went wrong in the program itself has the name of its kind before it.
_RAISED: Final = re.compile(r"([A-Z]\w*): (.+)", re.DOTALL)
#: A value that is one of the sentences itself.
_NESTED: Final = "why"


def _pattern(sentence: str) -> re.Pattern[str]:
    return re.compile(_VALUE.sub(r"(?P<\1>.+?)", re.escape(sentence)), re.DOTALL)


_PATTERNS: Final = tuple((_pattern(each), each) for each in _SENTENCES)


def told(text: str | None) -> str:
    """Return a kept error in the present language; one that nobody knows as it is.

    >>> told("The address answered 503.")
    'The address answered 503.'
    """
    if not text or language.get() == "en":
        return text or ""
    for pattern, sentence in _PATTERNS:
        if found := pattern.fullmatch(text):
            values = {
                name: told(value) if name == _NESTED else value
                for name, value in found.groupdict().items()
            }
            return say(sentence, **values)
    if (said := say(text)) == text and (raised := _RAISED.fullmatch(text)):
        return f"{raised[1]}: {told(raised[2])}"
    return said
