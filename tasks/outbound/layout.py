"""The look of our mails: the operator's words in a frame that every client can show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, Final

from tasks.templating.markup import as_text

_FRAME: Final = Template(
    files("tasks.outbound").joinpath("letter.html").read_text(encoding="utf-8")
)
#: What mail programs show behind the subject.
_PREHEADER_MAX: Final = 110  # characters
#: Stands for the link to unsubscribe where a mail is only looked at.
UNSUBSCRIBE: Final = "#unsubscribe"
_PARAGRAPHS: Final = re.compile(r"\n[ \t]*\n\s*")
#: An address within text, without the full stop behind it.
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"']*[^\s<>\"'.,;:!?)\]]")


@dataclass(frozen=True, slots=True)
class _Words:
    sent_by: str
    unsubscribe: str


_WORDS: Final = {
    "en": _Words("Sent by {sender}", "Unsubscribe"),
    "fr": _Words("Envoyé par {sender}", "Se désabonner"),
}


def html_of(message: Mapping[str, Any], unsubscribe: str | None = None) -> str:
    """Return the HTML part of a mail; empty when it is to be plain text.

    Args:
        message: As the action ``email`` composes it.  With a ``look`` its HTML is a
            cleaned fragment, or there is none and the text becomes one.
        unsubscribe: The link that ends such mails; ``None``: it has none.
    """
    html, text = str(message.get("html") or ""), str(message.get("text") or "")
    look = message.get("look")
    if not isinstance(look, Mapping):
        return html
    sender, words = str(look.get("sender") or ""), _words_of(message)
    footer = escape(words.sent_by.format(sender=sender)) if sender else ""
    if unsubscribe:
        link = f'<a href="{escape(unsubscribe)}" style="color:#5f6368;">'
        footer += f"{' · ' if footer else ''}{link}{escape(words.unsubscribe)}</a>"
    return _FRAME.substitute(
        lang=_locale_of(message),
        title=escape(str(message.get("subject") or "")),
        preheader=escape(_preheader(text or as_text(html))),
        sender=escape(sender),
        body=html or fragment_of(text),
        footer=footer,
    )


def text_of(message: Mapping[str, Any], unsubscribe: str | None = None) -> str:
    """Return the text part of a mail; see ``html_of``."""
    text = str(message.get("text") or "") or as_text(str(message.get("html") or ""))
    if not unsubscribe:
        return text
    # Dash, dash, space: mail programs know that what follows is not the message.
    return f"{text.rstrip()}\n\n-- \n{_words_of(message).unsubscribe}: {unsubscribe}\n"


def fragment_of(text: str) -> str:
    """Return plain text as HTML: paragraphs, line ends, links.

    >>> fragment_of("Hi <you>,\\n\\nsee https://x.org/a.")
    '<p>Hi &lt;you&gt;,</p>\\n<p>see <a href="https://x.org/a">https://x.org/a</a>.</p>'
    """
    paragraphs = _PARAGRAPHS.split(text.strip())
    return "\n".join(f"<p>{_linked(each)}</p>" for each in paragraphs if each)


def _linked(text: str) -> str:
    written, end = [], 0
    for found in _ADDRESS.finditer(text):
        address = escape(found[0])
        before = escape(text[end : found.start()])
        written.append(f'{before}<a href="{address}">{address}</a>')
        end = found.end()
    written.append(escape(text[end:]))
    return "".join(written).replace("\n", "<br>\n")


def _preheader(text: str) -> str:
    line = " ".join(text[: 3 * _PREHEADER_MAX].split())
    if len(line) <= _PREHEADER_MAX:
        return line
    return line[:_PREHEADER_MAX].rpartition(" ")[0] + " …"


def _locale_of(message: Mapping[str, Any]) -> str:
    return "fr" if message.get("locale") == "fr" else "en"


def _words_of(message: Mapping[str, Any]) -> _Words:
    return _WORDS[_locale_of(message)]
