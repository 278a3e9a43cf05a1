"""What looks as if it were not what was meant is not applied."""

from __future__ import annotations

from typing import Final

from tasks.congregation.addresses.rows import Wanted
from tasks.congregation.addresses.tally import Tally
from tasks.long_jobs import CannotDo

#: This part of what was known may be missing, in percent; more is no usual change.
DROP_MAX: Final = 30
#: Fewer addresses than this may come and go as they like.
_FEW: Final = 10
_ANYWAY: Final = (
    "Nothing was changed. If it is right, start the sync again and tick “Apply it even "
    "if it looks wrong”."
)


def refuse_nothing(matched: int, tally: Tally, wanted: Wanted) -> None:
    """Refuse files without a single address of the congregation, or mostly unreadable.

    Raises:
        CannotDo: the sentence names what the files do hold.
    """
    if tally.read == 0:
        raise CannotDo("no_rows", "There is no address in it; nothing was changed.")
    refused = sum(tally.refused.values())
    if matched == 0 and refused and refused >= tally.outside:
        raise CannotDo(
            "all_refused",
            "None of its rows can be read; the report says why. Nothing was changed.",
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
            f"The files hold {matched} addresses where {known} were known, a drop of "
            f"more than {DROP_MAX} %. {_ANYWAY}",
        )


def _none_wanted(tally: Tally, wanted: Wanted) -> str:
    known = ", ".join(sorted(wanted.postcodes | wanted.communes)[:5])
    found = [code for code, _ in tally.places.elsewhere.most_common(3)]
    if any(postcode for postcode, _ in found):
        told = ", ".join(dict.fromkeys(postcode for postcode, _ in found if postcode))
        return (
            f"No row is of {known}; the file holds {told}, for instance. Nothing was "
            "changed."
        )
    told = ", ".join(commune for _, commune in found)
    return (
        "The file names no postal codes, only communes by their INSEE codes, such as "
        f"{told}. Add those that are yours under “Area”. Nothing was changed."
    )
