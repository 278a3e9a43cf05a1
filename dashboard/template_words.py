"""What templates say: each text is looked up and trusted once, not on every page."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from flask import Flask
from markupsafe import Markup

from tasks.saying import language
from tasks.saying.catalogs import catalog

#: More than all texts of all templates, in all languages.
_KEPT: Final = 20_000


@lru_cache(_KEPT)
def _said(sign: str, text: str) -> Markup:
    return Markup(catalog(sign).gettext(text))  # noqa: S704  # templates write it out


@lru_cache(_KEPT)
def _plain(sign: str, text: str) -> Markup:
    return _said(sign, text) % {}


def gettext(text: str, /, **values: object) -> Markup:
    """Return a template's own text in the present language, its values escaped.

    >>> gettext("%(n)s%% of it", n="<3")
    Markup('&lt;3% of it')
    """
    sign = language.get()
    return _said(sign, text) % values if values else _plain(sign, text)


def ngettext(one: str, many: str, n: int, /, **values: object) -> Markup:
    """Return a template's own text for a number, which ``%(num)s`` stands for."""
    said = Markup(catalog(language.get()).ngettext(one, many, n))  # noqa: S704  # as above
    return said % {"num": n, **values}


def init_app(app: Flask) -> None:
    """Take the place of Jinja's own, which makes of each text a new one, thrice.

    All templates are HTML, so nobody has to ask whether values are escaped.
    """
    app.jinja_env.globals.update(gettext=gettext, ngettext=ngettext, _=gettext)
