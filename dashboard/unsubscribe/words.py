"""What the page says, in the congregation's language: it is for its guests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of one language; ``{sender}`` and ``{address}`` are filled in."""

    language: str
    title: str
    question: str
    except_for: str
    button: str
    done_title: str
    done: str


WORDS: Final[Mapping[str, Words]] = {
    "en": Words(
        language="en",
        title="Unsubscribe",
        question="{sender} will send no more mails to {address}.",
        except_for="Mails about what you arrange with them yourself, such as a "
        "booking, still reach you.",
        button="Unsubscribe",
        done_title="You are unsubscribed",
        done="{sender} sends no more mails to {address}. If this was a mistake, tell "
        "them; they can allow it again.",
    ),
    "fr": Words(
        language="fr",
        title="Se désabonner",
        question="{sender} n’enverra plus de messages à {address}.",
        except_for="Les messages sur ce que vous convenez vous-même avec eux, comme "
        "une réservation, vous parviennent toujours.",
        button="Se désabonner",
        done_title="Vous êtes désabonné",
        done="{sender} n’envoie plus de messages à {address}. Si c’est une erreur, "
        "dites-le-leur ; ils peuvent l’annuler.",
    ),
}
