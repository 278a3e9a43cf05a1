from __future__ import annotations

import ipaddress
from collections.abc import Sequence

import pytest

from tasks.errors import InvalidInput
from tasks.outbound.guard import UrlRules, check_addresses, check_form
from tasks.outbound.networks import Address, is_public
from tasks.outbound.urls import read_url

HOME = UrlRules(allow=(ipaddress.ip_network("127.0.0.0/8"),), http=True)


def code_of(url: str, rules: UrlRules | None = None) -> str | None:
    """Return the code with which ``url`` is refused; ``None``: it is accepted."""
    try:
        check_form(read_url(url), rules or UrlRules())
    except InvalidInput as refused:
        return refused.code
    return None


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("javascript:alert(1)", "url_scheme"),
        ("http://example.com/hook", "url_insecure"),
        ("file:///etc/passwd", "url_scheme"),
        ("gopher://127.0.0.1:6379/_INFO", "url_scheme"),
        ("data:text/html,x", "url_scheme"),
        ("//127.0.0.1/x", "url_malformed"),
        ("example.com/hook", "url_malformed"),
        ("", "url_malformed"),
        ("https:evil.com", "url_malformed"),
        ("https://", "url_malformed"),
        ("http:///127.0.0.1/", "url_malformed"),
        ("https://127.0.0.1/", "url_private"),
        ("https://localhost/", "url_private"),
        ("https://LOCALHOST.", "url_private"),
        ("https://2130706433/", "url_host_form"),
        ("https://0x7f.1/", "url_host_form"),
        ("https://0177.0.0.1/", "url_host_form"),
        ("https://127.1/", "url_host_form"),
        ("https://0/", "url_host_form"),
        ("https://127.0.0.0x1/", "url_host_form"),
        ("https://1.2.3.4.5/", "url_host_form"),
        ("https://127.0.0.1./", "url_host_form"),
        ("https://example.com./", "url_host_form"),
        ("https://169.254.169.254/latest/meta-data/", "url_private"),
        ("https://[fd00:ec2::254]/", "url_private"),
        ("https://168.63.129.16/", "url_private"),
        ("https://100.100.100.200/", "url_private"),
        ("https://192.0.0.192/", "url_private"),
        ("https://[::1]/", "url_private"),
        ("https://[::]/", "url_private"),
        ("https://[::ffff:127.0.0.1]/", "url_private"),
        ("https://[::ffff:0:127.0.0.1]/", "url_private"),
        ("https://[64:ff9b::7f00:1]/", "url_private"),
        ("https://[2002:7f00:1::]/", "url_private"),
        ("https://[fe80::1%25eth0]/", "url_host_form"),
        ("https://[fe80::1%eth0]/", "url_host_form"),
        ("https://127.0.0.1\\@example.com/", "url_malformed"),
        ("https://example.com\\@127.0.0.1/", "url_malformed"),
        ("https://example.com@127.0.0.1/", "url_userinfo"),
        ("https://user:pass@example.com/", "url_userinfo"),
        ("https://@example.com/", "url_userinfo"),
        ("https://example.com:0/", "url_port"),
        ("https://example.com:99999/", "url_port"),
        ("https://example.com:-1/", "url_port"),
        ("https://example.com:22/", "url_port"),
        ("https://example.com:6379/", "url_port"),
        ("https://example.com:４４３/", "url_port"),
        ("https://exa mple.com/", "url_malformed"),
        (" https://example.com/", "url_malformed"),
        ("https://exa\tmple.com/", "url_malformed"),
        ("https://example.com/\n", "url_malformed"),
        ("https://example.com/\u202e", "url_malformed"),
        ("https://example.com/#part", "url_malformed"),
        ("https://１２７.0.0.1/", "url_malformed"),
        ("https://exa%6dple.com/", "url_host_form"),
        ("https://intranet/", "url_private"),
        ("https://db.internal/", "url_private"),
        ("https://printer.local/", "url_private"),
        ("https://nas.home.arpa/", "url_private"),
        ("https://x.localhost/", "url_private"),
        ("https://example.com/" + "x" * 3000, "too_long"),
    ],
)
def test_odd_and_private_addresses_are_refused(url: str, code: str) -> None:
    assert code_of(url) == code


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://Example.COM:443/a?b=c", "https://example.com/a?b=c"),
        ("https://example.com:8443/hook", "https://example.com:8443/hook"),
        ("https://example.com:/hook", "https://example.com/hook"),
        ("https://example.com/@user", "https://example.com/@user"),
        ("https://93.184.216.34/", "https://93.184.216.34/"),
        (
            "https://[2606:2800:220:1:0:0:0:1]/",
            "https://[2606:2800:220:1::1]/",
        ),
        ("https://аррӏе.com/", "https://xn--80ak6aa92e.com/"),
    ],
)
def test_public_addresses_get_their_one_form(url: str, canonical: str) -> None:
    target = read_url(url)

    check_form(target, UrlRules())
    assert target.url == canonical


def test_an_allowed_network_may_be_reached_at_any_port() -> None:
    assert code_of("http://127.0.0.1:5001/hook", HOME) is None
    assert code_of("http://10.0.0.1/", HOME) == "url_private"
    assert code_of("http://receiver:5001/", HOME) is None  # its addresses decide


@pytest.mark.parametrize(
    "addresses",
    [
        ["10.0.0.1"],
        ["93.184.216.34", "10.0.0.1"],
        ["93.184.216.34", "::1"],
        ["2606:2800:220:1::1", "169.254.169.254"],
    ],
)
def test_one_private_address_among_the_answers_is_enough(addresses: list[str]) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_addresses(read_url("https://example.com/"), _read(addresses), UrlRules())

    assert refused.value.code == "url_private"


def test_a_name_with_a_public_address_does_not_open_every_port() -> None:
    target = read_url("http://example.com:6379/")

    with pytest.raises(InvalidInput) as refused:
        check_addresses(target, _read(["127.0.0.1", "93.184.216.34"]), HOME)

    assert refused.value.code == "url_port"


@pytest.mark.parametrize(
    "private",
    [
        *("0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "168.63.129.16"),
        *("169.254.1.1", "172.16.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1"),
        *("192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
        *("240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1"),
        *("::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::1", "64:ff9b:1::1"),
        *("100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "fc00::1", "fd00::1"),
        *("fe80::1", "fec0::1", "ff02::1"),
    ],
)
def test_private_and_special_addresses_are_not_public(private: str) -> None:
    assert not is_public(ipaddress.ip_address(private))


@pytest.mark.parametrize("public", ["93.184.216.34", "1.1.1.1", "2606:4700::1111"])
def test_ordinary_addresses_are_public(public: str) -> None:
    assert is_public(ipaddress.ip_address(public))


def _read(addresses: Sequence[str]) -> list[Address]:
    return [ipaddress.ip_address(address) for address in addresses]
