"""Decides which addresses and ports may be connected to.

The table of networks is our own: Python's `ipaddress.is_global` differs between
versions and calls several of these global. Sources: the IANA special-purpose address
registries, RFC 6890 and its successors; for ports, the WHATWG Fetch standard.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

from opilio.errors import BadInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

REFUSED = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and the metadata of cloud machines
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, deprecated
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        "2001::/23",  # protocol assignments
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: judged by the address inside
        "3ffe::/16",  # the 6bone, given back
        "3fff::/20",  # documentation
    )
)
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")  # of IPv6, nothing else is in use

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# 64:ff9b:1::/48 also carries IPv4 addresses, but where in the address is each
# network's own affair (RFC 8215): it is local, and outside of GLOBAL_UNICAST.

# Ports that browsers block, then those of services that react to a line of HTTP.
REFUSED_PORTS = frozenset(
    (
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77),
        *(79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135),
        *(137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531),
        *(532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720),
        *(1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668),
        *(6669, 6679, 6697, 10080),
        *(445, 873, 1433, 1521, 1883, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 5432),
        *(5672, 5900, 5984, 6379, 6380, 8086, 9042, 9092, 9200, 9300, 10250, 11211),
        *(26379, 27017, 27018),
    )
)


def parse_networks(networks: Iterable[str]) -> tuple[Network, ...]:
    """The networks of the setting `fetch.allow_networks`."""
    try:
        return tuple(ipaddress.ip_network(network) for network in networks)
    except ValueError as error:
        raise BadInput(
            f"fetch.allow_networks: {error}; write a network like 192.168.1.0/24"
        ) from None


def allowed(address: str, allow_networks: Sequence[Network] = ()) -> bool:
    """Whether we may connect to this numeric address."""
    try:
        outer = ipaddress.ip_address(address)
    except ValueError:
        return False
    inner = unwrapped(outer)
    if any(outer in network or inner in network for network in allow_networks):
        return True
    return is_public(inner) and all(is_public(other) for other in relays(outer))


def is_public(address: Address) -> bool:
    """Whether it is global unicast and not in a private or reserved network."""
    if address.version == 6 and address not in GLOBAL_UNICAST:
        return False
    return not any(address in network for network in REFUSED)


def unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 address carries and leads to, or itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    return address


def server_at(address: str) -> str:
    """The address of a server: IPv4 also where it is written as IPv6.

    >>> server_at("::ffff:192.0.2.1")
    '192.0.2.1'
    """
    if not address.startswith("::ffff:"):
        return address
    return str(ipaddress.IPv6Address(address).ipv4_mapped or address)


def relays(address: Address) -> tuple[Address, ...]:
    """The servers that a tunnelled address names on its way."""
    if isinstance(address, ipaddress.IPv6Address) and address.teredo is not None:
        return (address.teredo[0],)
    return ()
