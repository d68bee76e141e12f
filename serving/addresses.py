"""The address that a peer connects from, for limits per address.

Law: an IPv4 address counts as one; an IPv6 address counts as its network of 64 bits, all of which one machine may have.
Unix sockets count as one address together.
"""

from __future__ import annotations

import ipaddress


def address_of(peer: str) -> str:
    """Return the address in the text `peer`: `host:port`, or `unix`."""
    host, _, _ = peer.rpartition(":")
    if ":" not in host:
        return host or peer
    try:
        return str(ipaddress.IPv6Network((int(ipaddress.IPv6Address(host.partition("%")[0])), 64), strict=False))
    except ValueError:
        return host
