"""The language of who is looking: every text on every page is said in it."""

from __future__ import annotations

from functools import lru_cache
from gettext import NullTranslations

from flask import Flask, g, has_request_context, request
from flask_login import current_user
from flask_wtf import form as flask_wtf_form
from sqlalchemy.exc import OperationalError
from wtforms.i18n import get_translations

from dashboard.security import OWN_CREDENTIALS
from tasks.saying import LANGUAGES, language, meant, say, say_many
from tasks.saying.catalogs import catalog

#: What stands in for all other languages.
FIRST = next(iter(LANGUAGES))


def own_language() -> str:
    """Return the operator's language; the browser's where nobody has chosen one."""
    if not has_request_context():
        return FIRST
    if "own_language" not in g:
        chosen = _chosen()
        wanted = request.accept_languages.best_match(LANGUAGES)
        g.own_language = chosen if chosen in LANGUAGES else wanted or FIRST
    found: str = g.own_language
    return found


def _chosen() -> str | None:
    try:
        return current_user.language if current_user.is_authenticated else None
    except OperationalError:  # the page that says so needs a language as well
        return None


def speak(chosen: str | None) -> None:
    """Say the rest of this request in a language that was just chosen."""
    g.pop("own_language", None)
    language.set(chosen or own_language())


def begin() -> None:
    """Set the language of this request; errors from before that call it as well."""
    # Machines read English, whoever calls.
    is_machine = request.blueprint in OWN_CREDENTIALS or request.path.startswith(
        "/api/"
    )
    language.set(FIRST if is_machine else own_language())


def _end(_error: BaseException | None) -> None:
    language.set(FIRST)


class FormWords:
    """What WTForms says by itself, in the catalogs that it brings."""

    def gettext(self, text: str) -> str:
        """Return one of its texts in the present language."""
        return _with_apostrophes(_of_forms().gettext(text))

    def ngettext(self, one: str, many: str, n: int) -> str:
        """Return one of its texts for a number."""
        return _with_apostrophes(_of_forms().ngettext(one, many, n))


def _of_forms() -> NullTranslations:
    return _forms_of(language.get())


@lru_cache
def _forms_of(sign: str) -> NullTranslations:
    if sign == FIRST:
        return NullTranslations()
    found: NullTranslations = get_translations([sign])
    return found


def _with_apostrophes(text: str) -> str:
    return (
        text
        if language.get() == FIRST
        else text.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
    )


def _gettext(text: str) -> str:
    return catalog(language.get()).gettext(text)


def _ngettext(one: str, many: str, n: int) -> str:
    return catalog(language.get()).ngettext(one, many, n)


def init_app(app: Flask) -> None:
    """Set the language of every request, and let templates speak it.

    In templates ``_("...")`` takes only texts that are written out there, since it
    trusts their markup; whatever comes from a value goes through ``say``.
    """
    app.before_request(begin)
    app.teardown_request(_end)
    # Flask-WTF asks this, but would fill it with Flask-Babel alone.
    flask_wtf_form.translations = FormWords()
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]  # the extension's
        _gettext, _ngettext, newstyle=True
    )
    app.jinja_env.globals.update(
        say=say,
        say_many=say_many,
        meant=meant,
        own_language=own_language,
        languages=LANGUAGES,
    )
