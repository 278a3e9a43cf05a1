"""``carillon catalogs``: write the marked texts into the catalogs, for translators."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import click
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

from dashboard import ROOT
from dashboard.cli.marked import Text, nouns
from tasks.saying.catalogs import ABOUT, HEADER, LANGUAGES, empty

#: Longest line of a catalog.
WIDTH = 110


@click.command()
@click.argument("only", metavar="[NOUN]...", nargs=-1)
def catalogs(only: tuple[str, ...]) -> None:
    """Add new texts to the catalogs, take out what nobody says any more.

    With NOUNs only their files are written: rules, executions, common and so on.
    """
    found = nouns(ROOT)
    for noun in sorted(set(only) - set(found)):
        raise click.BadParameter(f"nothing is marked in {noun!r}")
    for language in list(LANGUAGES)[1:]:
        _write_all(ROOT / "tasks/saying/locale" / language, language, found, only)


def _write_all(
    folder: Path, language: str, found: dict[str, set[Text]], only: Iterable[str]
) -> None:
    paths = {path.stem: path for path in sorted(folder.glob("*.po"))}
    known = {noun: read(path, language) for noun, path in paths.items()}
    said = {key_of(text) for texts in found.values() for text in texts}
    for noun in only or sorted(set(found) | set(known)):
        elsewhere = {
            key_in(message)
            for other, one in known.items()
            if other != noun
            for message in one
        }
        own = known.setdefault(noun, empty(language))
        wanted = {key_of(text): text for text in found.get(noun, set())}
        kept = {key_in(message) for message in own} & said
        made = empty(language)
        for key in sorted(kept | (set(wanted) - elsewhere)):
            _add(made, own, key, wanted.get(key))
        known[noun] = made
        write(folder / f"{noun}.po", made)
        missing = [
            message for message in made if message.id and not said_in(message.string)
        ]
        click.echo(f"{language}/{noun}.po: {len(made)} texts, {len(missing)} missing")


def _add(made: Catalog, own: Catalog, key: str, wanted: Text | None) -> None:
    about, _, one = key.rpartition(ABOUT)
    before = own.get(one, about or None)
    text = before.id if wanted is None and before is not None else wanted
    text = text if isinstance(text, (tuple, list)) else one
    is_same = before is not None and before.id == text
    string = before.string if before is not None and is_same else ""
    made.add(text, string, context=about or None)


def said_in(string: str | Iterable[str] | None) -> bool:
    """Whether a text is translated, in all of its numbers."""
    return all(string if isinstance(string, (tuple, list)) else [string])


def key_of(text: object) -> str:
    """Return what a catalog finds a text by: the one for one thing."""
    return text[0] if isinstance(text, (tuple, list)) else str(text)


def key_in(message: Message) -> str:
    """Return what a catalog finds a message by, with what it is about."""
    key = key_of(message.id)
    return f"{message.context}{ABOUT}{key}" if message.context else key


def read(path: Path, language: str) -> Catalog:
    """Return a catalog file; its header is left out."""
    with path.open("rb") as file:
        found = read_po(file, locale=language)
    made = empty(language)
    for message in found:
        if message.id:
            made.add(message.id, message.string, context=message.context)
    return made


def write(path: Path, catalog: Catalog) -> None:
    """Write a catalog file: sorted, without places, so that it changes little."""
    made = io.BytesIO()
    write_po(
        made, catalog, width=WIDTH, sort_output=True, no_location=True, omit_header=True
    )
    path.write_bytes(HEADER + made.getvalue().strip() + b"\n")
