"""YAML is read as JSON would be, with its lines, and nothing hostile is made of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.operations.yaml_text import InvalidYaml, dump, line_of, load

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]))
WORDS = "~ null yes on 08:30 0899 1_000 1e5 12 -1 1.5 0x1f 2026-03-10 << = # !x &a *a"
SPECIAL = st.sampled_from(
    [*WORDS.split(), "", "- a", "a: b", "{{ guest.name }}", "a\nb", "a\n", "\n", "🎙"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS | SPECIAL,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(TEXTS | SPECIAL, inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=150)
@given(VALUES)
def test_what_is_written_is_read_back_the_same(value: Any) -> None:
    assert load(dump(value))[0] == value


def test_words_that_yaml_once_turned_around_stay_texts() -> None:
    read, _ = load("a: yes\nb: 08:30\nc: 2026-03-10\nd: 0899\ne: 1_000\nf: No")
    assert read == {
        "a": "yes",
        "b": "08:30",
        "c": "2026-03-10",
        "d": "0899",
        "e": "1_000",
        "f": "No",
    }


def test_each_path_has_its_line() -> None:
    _, lines = load("rules:\n  - name: A\n    settings:\n      text: |\n        Hi\n")
    assert lines["rules[0].settings.text"] == 4
    assert line_of(lines, "rules[0].settings.html") == 3
    assert line_of(lines, "elsewhere") == 1


BOMB = "a: &a [x,x]\n" + "".join(
    f"k{n}: &b{n} [{', '.join([f'*b{n - 1}' if n else '*a'] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (BOMB, 1, "aliases"),
        ("a: 1\nb: *a", 2, "aliases"),
        ("a: 1\nb: !!python/object/apply:os.system ['id']", 2, "Tags"),
        ("a: !!binary aGk=", 1, "Tags"),
        ("!!set {a, b}", 1, "Tags"),
        ("a: 1\nb:\n  c: 2\n  c: 3", 4, "twice"),
        ("a: 1\n---\nb: 2", 2, "one document"),
        ("a: 1\n[b]: 2", 2, "name is expected"),
        ("a: [1, }", 1, "no YAML"),
        ("a: 1\nb: c: d", 2, "no YAML"),
        ("a:\n\t- b", 2, "no YAML"),
        ("a: 1\nb: \x00", 2, "not allowed"),
        ("a: 1\nb: \x07", 2, "not allowed"),
        ("[" * 50_000, 1, "nest"),
        ("{a: " * 50_000, 1, "nest"),
        ("- " * 50_000, 1, "nest"),
        ("%YAML 9.9\n---\na: 1", 1, "no YAML"),
    ],
)
def test_what_is_hostile_or_broken_is_named_with_its_line(
    text: str, line: int, says: str
) -> None:
    with pytest.raises(InvalidYaml) as refused:
        load(text)
    assert refused.value.line == line
    assert says in refused.value.message


def test_an_empty_text_is_nothing() -> None:
    assert load("")[0] is None
    assert load("# only a remark\n")[0] is None


def test_a_number_of_many_digits_is_a_text() -> None:
    assert load("a: " + "9" * 100_000)[0] == {"a": "9" * 100_000}
