"""What looks as if it were not what was meant is not applied."""

from __future__ import annotations

from typing import Final

from tasks.congregation.addresses.rows import Wanted
from tasks.congregation.addresses.tally import Tally
from tasks.long_jobs import CannotDo
from tasks.saying import mark
from tasks.saying.kept import kept

#: This part of what was known may be missing, in percent; more is no usual change.
DROP_MAX: Final = 30
#: Fewer addresses than this may come and go as they like.
_FEW: Final = 10


def refuse_nothing(matched: int, tally: Tally, wanted: Wanted) -> None:
    """Refuse files without a single address of the congregation, or mostly unreadable.

    Raises:
        CannotDo: the sentence names what the files do hold.
    """
    if tally.read == 0:
        raise CannotDo(
            "no_rows", mark("There is no address in it; nothing was changed.")
        )
    refused = sum(tally.refused.values())
    if matched == 0 and refused and refused >= tally.outside:
        raise CannotDo(
            "all_refused",
            mark(
                "None of its rows can be read; the report says why. Nothing was "
                "changed."
            ),
        )
    if matched == 0:
        raise CannotDo("none_wanted", _none_wanted(tally, wanted))


def refuse_drop(matched: int, known: int) -> None:
    """Refuse files that lack more than ``DROP_MAX`` percent of what was known.

    Raises:
        CannotDo: the sentence says how many.
    """
    if known >= _FEW and matched * 100 < known * (100 - DROP_MAX):
        raise CannotDo(
            "implausible",
            kept(
                "The files hold %(matched)s addresses where %(known)s were known, a "
                "drop of more than %(max)s %%. Nothing was changed. If it is right, "
                "start the sync again and tick “Apply it even if it looks wrong”.",
                matched=str(matched),
                known=str(known),
                max=str(DROP_MAX),
            ),
        )


def _none_wanted(tally: Tally, wanted: Wanted) -> str:
    known = ", ".join(sorted(wanted.postcodes | wanted.communes)[:5])
    found = [code for code, _ in tally.places.elsewhere.most_common(3)]
    if any(postcode for postcode, _ in found):
        told = ", ".join(dict.fromkeys(postcode for postcode, _ in found if postcode))
        return kept(
            "No row is of %(wanted)s; the file holds %(found)s, for instance. Nothing "
            "was changed.",
            wanted=known,
            found=told,
        )
    told = ", ".join(commune for _, commune in found)
    return kept(
        "The file names no postal codes, only communes by their INSEE codes, such as "
        "%(found)s. Add those that are yours under “Area”. Nothing was changed.",
        found=told,
    )
