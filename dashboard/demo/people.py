"""The people, podcasts and titles of the demo.  All are made up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DOMAIN: Final = "st-bonifatius.example"
LOGIN: Final = f"demo@{DOMAIN}"
#: Printed at every start and good for made-up data only.
PASSWORD: Final = "seven bells at noon"  # noqa: S105  # told to everybody who starts it

#: The demo's mail server knows nobody of this address.
REFUSED_ADDRESS: Final = "l.marchetti@gone.example"
#: Its mail server was away for two days, and a mail for it is given up.
SILENT_ADDRESS: Final = "kontakt@stadtchor.example"


@dataclass(frozen=True, slots=True)
class Show:
    """A podcast and its host."""

    id: str
    title: str
    host_name: str
    host_email: str
    links: tuple[tuple[str, str], ...]  # id and name


CONVERSATIONS: Final = Show(
    "kirchplatz",
    "Kirchplatz Conversations",
    "Miriam Aebi",
    f"miriam.aebi@{DOMAIN}",
    (("interview-45", "45-minute interview"), ("walk-20", "20 minutes on the square")),
)
VOICES: Final = Show(
    "voix-du-lac",
    "Voix du Lac",
    "Étienne Rochat",
    f"etienne.rochat@{DOMAIN}",
    (("entretien-30", "Entretien de 30 minutes"),),
)
SHOWS: Final = (CONVERSATIONS, VOICES)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is invited."""

    id: str
    name: str
    email: str | None
    phone: str | None = None


GUESTS: Final = (
    Person("g-oesch", "Jürg Oesch", "juerg.oesch@bergwerk.example", "+41 79 555 01 14"),
    Person("g-fontaine", "Aurélie Fontaine", "aurelie@atelier-fontaine.example"),
    Person("g-adeyemi", "Folake Adeyemi", "folake.adeyemi@quartier.example"),
    Person("g-marchetti", "Luca Marchetti", REFUSED_ADDRESS),
    Person("g-stadtchor", "Stadtchor, Leitung", SILENT_ADDRESS),
    Person("g-nguyen", "Linh Nguyễn", "linh@zweiraeder.example", "+41 78 555 90 02"),
    Person("g-brandt", "Schwester Ottilie Brandt", None, "+41 31 555 77 00"),
    Person("g-zuercher", "Reto Zürcher", "reto.zuercher@glockenguss.example"),
    Person("g-moreau", "Camille Moreau", "camille.moreau@ecole-du-port.example"),
    Person("g-haddad", "Nour Haddad", "nour@tisch-fuer-alle.example"),
    Person("g-lindqvist", "Tove Lindqvist", "tove.lindqvist@orgel.example"),
    Person("g-perret", "Benoît Perret", "b.perret@vignerons.example"),
)

TITLES: Final = (
    "The man who casts bells",
    "What the square hears at six",
    "Soup for two hundred",
    "Le port avant l'aube",
    "An organ comes home",
    "Letters to the hospice",
    "Vendanges et patience",
    "Two wheels and a prayer",
    "Who sits in the last row",
    "L'école du soir",
    "A choir between two rehearsals",
    "Silence, fifteen minutes",
)
