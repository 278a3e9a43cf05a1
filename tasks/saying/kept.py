"""Sentences that rows keep: in English, and so that they can be said anew.

A worker does not know who will read why it failed.  So it keeps the English sentence,
and beside it the marked text and its values, which a page says in its language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.saying import say


class Kept(str):
    """An English sentence that knows the marked text and the values it is made of."""

    __slots__ = ("text", "values")
    text: str
    values: Mapping[str, str]


def kept(text: str, /, **values: str) -> Kept:
    """Return a text in English, with its values; marked for the catalogs as well.

    A value may be such a sentence itself.

    >>> kept("Line %(line)s is empty.", line="7")
    'Line 7 is empty.'
    """
    made = Kept(text % values if values else text)
    made.text, made.values = text, values
    return made


def said_of(sentence: str) -> dict[str, Any] | None:
    """Return what a row keeps beside a sentence, as JSON; ``None``: nothing is known.

    >>> said_of(kept("Line %(line)s is empty.", line="7"))
    {'text': 'Line %(line)s is empty.', 'values': {'line': '7'}}
    """
    if not isinstance(sentence, Kept):
        return None
    values = {name: said_of(one) or one for name, one in sentence.values.items()}
    return {"text": sentence.text, "values": values}


def told(sentence: str, said: Mapping[str, Any] | None) -> str:
    """Say a kept sentence in the present language.

    Args:
        said: what was kept beside it; ``None``: the sentence is a marked text, or
            stays in English.
    """
    if said is None:
        return say(sentence)
    values = {
        name: told("", one) if isinstance(one, dict) else str(one)
        for name, one in said["values"].items()
    }
    return say(said["text"], **values)
