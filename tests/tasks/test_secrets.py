from __future__ import annotations

import pytest

from tasks.errors import InvalidInput
from tasks.secrets import SecretBox, new_webhook_secret, webhook_key


def test_what_was_sealed_is_opened_again_and_not_readable_meanwhile() -> None:
    box = SecretBox("k" * 40)

    sealed = box.seal("whsec_café")

    assert "whsec" not in sealed
    assert box.unseal(sealed) == "whsec_café"


def test_a_changed_secret_key_is_told_in_a_sentence() -> None:
    sealed = SecretBox("k" * 40).seal("text")

    with pytest.raises(InvalidInput, match="SECRET_KEY has changed") as refused:
        SecretBox("another key").unseal(sealed)

    assert refused.value.code == "secret_unreadable"


def test_a_former_key_still_opens() -> None:
    sealed = SecretBox("former").seal("text")

    assert SecretBox("new", "former").unseal(sealed) == "text"


@pytest.mark.parametrize("damaged", ["", "x", "gAAAAA", "é"])
def test_damage_is_refused(damaged: str) -> None:
    with pytest.raises(InvalidInput):
        SecretBox("k").unseal(damaged)


def test_new_webhook_secrets_differ_and_hold_32_bytes() -> None:
    first, second = new_webhook_secret(), new_webhook_secret()

    assert first != second
    assert len(webhook_key(first)) == 32


@pytest.mark.parametrize(
    "weak",
    [
        "abc",
        "whsec_abc",
        "whsec_" + "A" * 28,  # 21 bytes
        "whsec_" + "A" * 88,  # 66 bytes
        "whsec_ÄÖ" + "A" * 40,
        "whsec_" + "A" * 31 + "!" * 9,
    ],
)
def test_weak_webhook_secrets_are_refused(weak: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        webhook_key(weak)

    assert refused.value.code == "secret_weak"
