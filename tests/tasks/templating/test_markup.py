"""Operators' HTML: what is kept of it, and how it reads as plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.templating.markup import as_text, cleaned


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("<p>Hi</p>", "<p>Hi</p>"),
        ("<script>alert(1)</script>Hi", "Hi"),
        ("<style>p{display:none}</style>Hi", "Hi"),
        ("<p onclick='x()' style='color:red' class=c>Hi</p>", "<p>Hi</p>"),
        ("<a href='javascript:x'>a</a>", '<a rel="noopener noreferrer">a</a>'),
        ("<a href='data:text/html,x'>a</a>", '<a rel="noopener noreferrer">a</a>'),
        (
            "<a href='https://x.org/'>a</a>",
            '<a href="https://x.org/" rel="noopener noreferrer">a</a>',
        ),
        ("<img src=x onerror=alert(1)>", '<img src="x">'),
        ("<svg/onload=alert(1)>", ""),
        ("<form action='/x'><input name=a></form>", ""),
        ("<iframe src='https://x.org'></iframe>", ""),
        ("<base href='https://x.org'>", ""),
        ("<meta http-equiv=refresh content='0;https://x.org'>", ""),
        ("<!-- hidden --><b>x", "<b>x</b>"),
        ("</td></tr></table>Hi", "Hi"),
        ("</body></html>Hi", "Hi"),
    ],
)
def test_only_harmless_markup_is_kept(source: str, kept: str) -> None:
    assert cleaned(source) == kept


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("a<br>b", "a\nb"),
        ("<ul><li>a</li><li>b</li></ul>c", "- a\n- b\n\nc"),
        ("<h1>A</h1>b", "A\n\nb"),
        ("a &amp; b&nbsp;&lt;c&gt; é", "a & b <c> é"),
        ("<a href='https://x.org/'>Room</a>", "Room (https://x.org/)"),
        ("<a href='https://x.org/'>https://x.org/</a>", "https://x.org/"),
        ("<a href='mailto:a@b.org'>a@b.org</a>", "a@b.org"),
        ("<a>no address</a>", "no address"),
        ("<img src='https://x.org/a.png' alt='A bell'>", "A bell"),
        ("<table><tr><th>A</th><td>1</td></tr><tr><td>2</td></tr></table>", "A 1\n2"),
        ("<hr>", "---"),
        ("a\n  b\tc", "a b c"),
        ('<a href="https://x.org/?a=%3E>b">y</a>', "y (https://x.org/?a=%3E>b)"),
    ],
)
def test_html_reads_as_plain_text(source: str, text: str) -> None:
    assert as_text(cleaned(source)) == text


@given(st.text(alphabet="<>/=\"' abpr&;\n-!", max_size=60))
def test_any_markup_is_cleaned_and_read_without_an_error(source: str) -> None:
    clean = cleaned(source)
    assert cleaned(clean) == clean
    assert "<b" not in as_text(clean).replace("<b>", "") or "&lt;b" in clean
