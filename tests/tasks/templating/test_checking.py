from __future__ import annotations

import time
import tracemalloc

import pytest

from tasks.automation.messages import check_template
from tasks.automation.triggers import TRIGGERS
from tasks.templating.checking import find_problem

VARIABLES = TRIGGERS["booking.confirmed"].variables
DOUBLING = "{% assign s = 'xxxxxxxxxx' %}" + "{% assign s = s | append: s %}" * 40
SQUARING = "{% assign n = 99 %}" + "{% assign n = n | times: n %}" * 40
BLOW_UP = (
    "{% assign s = 'aaaaaaaaaa' %}"
    + "{% assign s = s | replace: 'a', 'aaaaaaaaaa' %}" * 12
)
SEQUENTIAL_LOOPS = "{% for i in (1..9000) %}{% endfor %}" * 100
NESTED_LOOPS = "{% for i in (1..200) %}{% for j in (1..200) %}{% endfor %}{% endfor %}"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{{ guest.name", "Line 1: }} is missing."),
        ("a\nb {% if guest.name", "Line 2: missing tag name or closing delimiter."),
        ("{% if guest.name %}", "{% endif %} is missing."),
        ("{% for i in (1..3) %}", "{% endfor %} is missing."),
        ("{% case guest.name %}", "A block has no end."),
        ("{% capture x %}", "is missing."),
        ("{% comment %}", "never closed"),
        ("{% endif %}", "{% endif %} stands outside its block."),
        ("{% else %}", "{% else %} stands outside its block."),
        ("{{ guest.name | upcse }}", "no filter 'upcse'; did you mean upcase?"),
        ("{{ guest.name | nosuch }}", "there is no filter 'nosuch'; there are abs,"),
        ("{{ guest.name | safe }}", "there is no filter 'safe'"),
        ("{% nosuch %}", "there is no tag 'nosuch'; there are if, unless,"),
        ("{% iff x %}", "there is no tag 'iff'; did you mean if?"),
        ("{% include '../../../../etc/passwd' %}", "there is no tag 'include'"),
        ("{% render '/etc/passwd' %}", "there is no tag 'render'"),
        ("{% liquid\necho 1 %}", "there is no tag 'liquid'"),
        ("{% tablerow i in (1..3) %}{% endtablerow %}", "there is no tag 'tablerow'"),
        ("{{ guest.nmae }}", "'guest.nmae'; did you mean guest.name?"),
        ("x\n\n{{ guest.nmae }}", "Line 3: there is no value"),
        ("{{ gest.name }}", "did you mean guest.name?"),
        ("{{ guest.phone_of_mother }}", "there are guest.id, guest.name, guest.email."),
        ("{% if guest.nmae %}x{% endif %}", "did you mean guest.name?"),
        ("{{ guest.name | append: guest.nmae }}", "did you mean guest.name?"),
        ("{% assign x = guest.nmae %}", "did you mean guest.name?"),
        ("{{ guest }}", "guest is a group of values; choose one, such as guest.id."),
        ("{{ guest[podcast.id] }}", "with dots"),
        ("{{ now }}", "there is no value 'now'"),
        ("{{ guest.access_token }}", "there is no value 'guest.access_token'"),
        ("{{ ''.__class__ }}", "Line 1:"),
        ("{{ obj.__init__ }}", "there is no value 'obj.__init__'"),
        ("{{ guest.__class__ }}", "there is no value 'guest.__class__'"),
        ("{{ guest.name.__class__ }}", "there is no value"),
        ("{{ config }}", "there is no value 'config'"),
        ("{{ lipsum.__globals__ }}", "there is no value"),
        ("{{ 7*7 }}", "Line 1: unexpected '*'."),
        ("{{ }}", "A value is missing"),
        ("{% if guest.name == %}x{% endif %}", "A value is missing"),
        ("{{ guest.name | append }}", "append has too few or too many values"),
        ("{{ booking.start_time | date: '%Q' }}", "'%Q' is not a date format"),
        ("{{ booking.start_time | date: '%999999999d' }}", "is not a date format"),
        ("{{ booking.start_time | date: timezone: 'Mars/X' }}", "is not a time zone"),
        ("{{ 5 | divided_by: 0 }}", "can't divide by 0"),
        ("{% for i in (1..100000000) %}{% endfor %}", "more than 10000 steps"),
        (NESTED_LOOPS, "more than 10000 steps"),
        (SEQUENTIAL_LOOPS, "more than 10000 steps"),
        ("{{ (1..100000000) | join: '' | size }}", "a value grows too big"),
        ("{{ (1..100000000) | size }}", "a value grows too big"),
        ("{{ (1..99999999999999999999) | reverse | first }}", "grows too big"),
        (DOUBLING, "The template is too much"),
        (SQUARING, "a value grows too big"),
        (BLOW_UP, "The template is too much"),
        ("{{ 5 | round: -1000000000 }}", "15 places"),
        (
            "{% for i in (1..9999) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}",
            "too",
        ),
        ("{% if true %}" * 12 + "{% endif %}" * 12, "The template"),
        ("{{ guest.name }}" * 501, "at most 500 tags"),
        ("{{s}}" * 200_000, "at most 20 kB"),
        ("x" * 2_000_000, "at most 20 kB"),
        ("ä" * 10_001, "at most 20 kB"),
        ("{{ a" + "[a" * 6000 + "]" * 6000 + " }}", "nested too deeply"),
        ("lone surrogate \ud800", "a character that cannot be sent"),
    ],
)
def test_a_bad_template_is_refused_with_a_sentence(source: str, why: str) -> None:
    problem = check_template(source, VARIABLES)

    assert problem is not None
    assert why in problem
    assert problem[-1] in ".?"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "plain",
        "{{ guest.name }}",
        '{{ guest.name | default: "there" }}',
        "{{ guest.name | capitalize | truncate: 20 }}",
        "{{ guest.name.size }}",
        "{{ guest['name'] }}",
        '{{ booking.start_time | date: "%d.%m.%Y %H:%M" }}',
        '{{ booking.start_time | date: "%-d %B", timezone: "Europe/Paris" }}',
        "{{ booking.start_time | local_time }}",
        "{% if booking.meeting_url %}Join: {{ booking.meeting_url }}{% endif %}",
        "{% unless guest.email %}x{% else %}y{% endunless %}",
        "{% case booking.status %}{% when 'confirmed' %}a{% else %}b{% endcase %}",
        "{% assign first = guest.name | split: ' ' | first %}Dear {{ first }}",
        "{% for i in (1..3) %}{{ i }}{% if forloop.last %}.{% endif %}{% endfor %}",
        "{% comment %} not sent {{ nothing }} {% endcomment %}",
        "{% # a note %}",
        "{% raw %}{{ not.a.value }}{% endraw %}",
        "{% capture x %}{{ guest.name }}{% endcapture %}{{ x }}",
        "${7*7} <%= 7*7 %> #{7*7}",
    ],
)
def test_a_good_template_is_accepted(source: str) -> None:
    assert check_template(source, VARIABLES) is None


@pytest.mark.parametrize(
    "source",
    [
        DOUBLING,
        SQUARING,
        BLOW_UP,
        SEQUENTIAL_LOOPS,
        "{{ (1..100000000) | join: '' | size }}",
        "{% case guest.name %}" * 400,
        "{{ a" + "[a" * 6000,
        "{{ '" + "9" * 4200 + "' | times: '" + "9" * 4200 + "' }}",
        "{% for i in (1..9999) %}{% assign s = s | append: 'abcdefghij' | upcase %}"
        "{% endfor %}",
        "{% assign a = 'x,' %}"
        + "{% assign a = a | append: a | split: '' | join %}" * 90,
    ],
)
def test_no_template_costs_much_time_or_memory(source: str) -> None:
    tracemalloc.start()
    began = time.thread_time()

    find_problem(source, VARIABLES)  # here, where it can be measured

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.thread_time() - began < 10.0  # tracing makes it several times slower
    assert peak < 60_000_000
