"""Which addresses and ports may be connected to."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.fetch.addresses import REFUSED_PORTS, allowed, parse_networks, server_at

PUBLIC = """
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0
    126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0
    192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
    2606:4700::1111 2a00:1450:4001:81b::200e 2001:4860:4860::8888 2400:cb00::1
    ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808:: 2001:0:808:808::f7f7:f7f7
"""

PRIVATE = """
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1
    127.255.255.254 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1
    192.0.0.8 192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255
    198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.250
    240.0.0.1 255.255.255.255
    :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:7f00:1 ::ffff:0:127.0.0.1
    64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::7f00:1
    64:ff9b:1:7f00:0:1:808:808 100::1 2001::1 2001:0:808:808::80ff:fffe
    2001:0:7f00:1::f7f7:f7f7 2001:2::1 2001:10::1 2001:20::1 2001:db8::1
    2002:7f00:1:: 2002:a00:1::1 2002:c0a8:101::1 3ffe::1 3fff::1 4000::1 5f00::1
    fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 ff0e::1
"""

NO_ADDRESS = [
    *("", "localhost", "2130706433", "0x7f.1", "127.1", "0177.0.0.1", "[::1]"),
    *("1.2.3.4:80", "1.2.3.4.", " 8.8.8.8", "８.8.8.8"),
]


@pytest.mark.parametrize("address", PUBLIC.split())
def test_a_public_address_is_allowed(address: str) -> None:
    assert allowed(address)


@pytest.mark.parametrize("address", PRIVATE.split())
def test_a_private_address_is_refused(address: str) -> None:
    assert not allowed(address)


@pytest.mark.parametrize("text", NO_ADDRESS)
def test_what_is_no_numeric_address_is_refused(text: str) -> None:
    assert not allowed(text, parse_networks(["0.0.0.0/0", "::/0"]))


@given(st.ip_addresses(network="0.0.0.0/0"))
def test_wrapping_an_address_does_not_change_the_answer(
    address: ipaddress.IPv4Address,
) -> None:
    number = int(address)
    wrapped = (
        (0xFFFF << 32) | number,
        (0x64FF9B << 96) | number,
        (0x2002 << 112) | number << 80,
        (0x20010000 << 96) | (0x08080808 << 64) | (number ^ 0xFFFFFFFF),
    )
    for outer in wrapped:
        assert allowed(str(ipaddress.IPv6Address(outer))) == allowed(str(address))


@pytest.mark.parametrize(
    ("address", "server"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:c000:201", "192.0.2.1"),
        ("::ffff:0:192.0.2.1", "::ffff:0:192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("", ""),
    ],
)
def test_one_server_is_known_by_one_address(address: str, server: str) -> None:
    assert server_at(address) == server


def test_a_named_network_is_allowed_and_no_other() -> None:
    networks = parse_networks(["127.0.0.0/8", "fd00::/8"])
    assert allowed("127.0.0.1", networks)
    assert allowed("::ffff:127.0.0.1", networks)
    assert allowed("fd12::1", networks)
    assert allowed("8.8.8.8", networks)
    assert not allowed("10.0.0.1", networks)
    assert not allowed("::1", networks)


def test_a_network_that_is_none_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r"allow_networks.*10\.0\.0\.1/8.*192\.168"):
        parse_networks(["10.0.0.1/8"])


def test_ports_of_other_services_are_refused_and_web_ports_are_not() -> None:
    assert {22, 25, 6379, 11211, 5432, 6000, 10080} <= REFUSED_PORTS
    web = {80, 81, 443, 591, 3000, 5000, 8000, 8008, 8080, 8443, 8888, 9000, 32768}
    assert not web & REFUSED_PORTS
