"""Networks of IP addresses as rails.

Law: the rail holds of the text of every address in the network. The whole octets of a network of IPv4 are the beginning
of all its addresses; what is behind them, and IPv6, is left to the residual.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from tamis.protocol.dialects.decide import AttributeTest
from tamis.protocol.dialects.rails import Rail, holds, undecided
from tamis.protocol.filters import Op
from tamis.protocol.residual import Assembler, cidr

_OCTET_BITS: Final = 8


def inside(name: str, text: str) -> Rail:
    """Return where the attribute is the text of an address in the network."""
    network = ipaddress.ip_network(text, strict=False)
    if network.version == 4 and network.prefixlen == network.max_prefixlen:
        return holds(name, Op.EQ, str(network.network_address))
    octets = str(network.network_address).split(".")[: network.prefixlen // _OCTET_BITS]
    start = "".join(f"{octet}." for octet in octets) if network.version == 4 else ""

    def append(made: Assembler) -> None:
        made.attribute(name)
        made.cidr(cidr(text))

    return undecided(holds(name, Op.PREFIX, start), f"the network {text}", AttributeTest(name, append))
