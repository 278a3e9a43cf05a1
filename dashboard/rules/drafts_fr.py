"""First words for the mails of new rules, in French."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WHEN: Final = (
    '{{ booking.start_time | date: "%d/%m/%Y à %H:%M" }} ({{ booking.timezone }})'
)
_LINK: Final = (
    "{% if booking.meeting_url %}\nPour nous rejoindre : {{ booking.meeting_url }}\n"
    "{% endif %}"
)

#: Who reads it -> how the mail begins.
GREETINGS: Final[Mapping[str, str]] = {
    "guest": 'Bonjour {{ guest.name | default: "" }},',
    "agent": "Bonjour,",
    "fixed": "Bonjour,",
    "host": 'Bonjour {{ podcast.host_name | default: "" }},',
}

#: Trigger -> subject, and body without greeting.
TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "booking.confirmed": (
        "{{ podcast.title }} : votre enregistrement est confirmé",
        f"Votre enregistrement est fixé au {_WHEN}.\n{_LINK}\nNous nous "
        "en réjouissons.",
    ),
    "booking.declined": (
        "{{ podcast.title }} : au sujet de votre enregistrement",
        f"Malheureusement, le {_WHEN} ne nous convient pas.\nMerci de "
        "choisir un autre moment.",
    ),
    "booking.canceled": (
        "{{ podcast.title }} : votre enregistrement est annulé",
        f"L’enregistrement du {_WHEN} n’aura pas lieu.",
    ),
    "booking.rescheduled": (
        "{{ podcast.title }} : nouvelle date pour votre enregistrement",
        f"Votre enregistrement aura lieu le {_WHEN}.\n{_LINK}",
    ),
    "episode.published": (
        "« {{ episode.title }} » est en ligne",
        "« {{ episode.title }} » de {{ podcast.title }} est publié.",
    ),
    "episode.scheduled": (
        "« {{ episode.title }} » a sa date",
        "« {{ episode.title }} » paraîtra le "
        '{{ episode.scheduled_for | date: "%d/%m/%Y à %H:%M" }}.',
    ),
    "episode.draft_created": (
        "Nouveau brouillon : {{ episode.title }}",
        "Il y a un nouveau brouillon pour {{ podcast.title }} : {{ episode.title }}.",
    ),
    "guest.responded": (
        "{{ guest.name }} a répondu",
        "{{ guest.name }} a répondu à votre invitation pour {{ podcast.title }}.",
    ),
    "guest.reminder_sent": (
        "Rappel envoyé à {{ guest.name }}",
        "Un rappel pour {{ podcast.title }} est parti à {{ guest.name }}.",
    ),
    "contact.due": (
        "{{ contact.display_name | default: contact.address }} attend votre attention",
        "Il est temps de revenir vers {{ contact.address }}."
        "{% if engagement.stage %}\nÉtape: {{ engagement.stage }}.{% endif %}",
    ),
    "campaign.activated": (
        "{{ campaign.name }} a commencé",
        "{{ campaign.name }} dure jusqu’au {{ campaign.ends_on }}.",
    ),
    "campaign.ended": (
        "{{ campaign.name }} est terminée",
        "{{ campaign.name }} s’est terminée le {{ campaign.ends_on }}.",
    ),
    "member.anonymised": (
        "Un membre a été anonymisé",
        "La personne partie le {{ member.left_on }} a été anonymisée, comme prévu.",
    ),
    "notification.failed": (
        "Une notification n’a pas pu partir",
        "{{ notification.type }} n’a pas pu être envoyée : {{ notification.error }}",
    ),
    "sync.completed": (
        "Les adresses sont à jour",
        "{{ sync.n_created }} nouvelles, {{ sync.n_updated }} modifiées, "
        "{{ sync.n_missing }} absentes.",
    ),
    "sync.failed": (
        "Les adresses n’ont pas pu être mises à jour",
        "Rien n’a été modifié : {{ sync.error }}",
    ),
    "document.thumbnail_ready": (
        "{{ document.title }} est sur le tableau",
        "{{ document.title }} est visible sur le tableau avec sa première page.",
    ),
    "document.thumbnail_failed": (
        "{{ document.title }} n’a pas de vignette",
        "La vignette de {{ document.title }} n’a pas pu être faite : "
        "{{ document.error }}",
    ),
    "data_transfer.completed": (
        "Le transfert est terminé",
        "{{ transfer.n_rows }} lignes ont été traitées.",
    ),
    "data_transfer.failed": (
        "Le transfert a échoué",
        "Rien n’a été modifié : {{ transfer.error }}",
    ),
    "endpoint.warned": (
        "Le webhook {{ endpoint.name }} ne répond plus",
        "Il a échoué {{ endpoint.failures }} fois depuis "
        "{{ endpoint.failing_since }} et sera désactivé à {{ endpoint.off_at }} "
        "si cela continue.",
    ),
    "endpoint.disabled": (
        "Le webhook {{ endpoint.name }} a été désactivé",
        "Il n’a plus répondu. Il n’apprend plus rien jusqu’à ce qu’il soit réactivé.",
    ),
    "time.before_recording": (
        "{{ podcast.title }} : votre enregistrement approche",
        f"Petit rappel : nous enregistrons le {_WHEN}.\n{_LINK}",
    ),
    "time.after_recording": (
        "{{ podcast.title }} : merci",
        "Merci pour cet enregistrement. Nous vous dirons quand l’épisode "
        "sera en ligne.",
    ),
    "time.before_publish": (
        "« {{ episode.title }} » paraît bientôt",
        "« {{ episode.title }} » de {{ podcast.title }} paraîtra le "
        '{{ episode.scheduled_for | date: "%d/%m/%Y à %H:%M" }}.',
    ),
    "time.after_publish": (
        "« {{ episode.title }} » est en ligne : faites-le savoir",
        "« {{ episode.title }} » de {{ podcast.title }} est en ligne. C’est "
        "le moment de le partager.",
    ),
    "time.after_booking": (
        "{{ podcast.title }} : avant l’enregistrement",
        f"Merci d’avoir réservé le {_WHEN}.\nUne pièce calme et un casque suffisent.",
    ),
}
