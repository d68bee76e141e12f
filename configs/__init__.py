"""The topology file: routers of a network, their addresses, links and settings.

`load_topology(path)` and `parse_topology(text)` return a frozen `Topology`, or raise a ConfigError that lists every
mistake of the file with its line and column. Modules are imported at the first use, so that an import of this package
is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis.configs.address import Address
    from tamis.configs.load import load_topology, parse_topology
    from tamis.configs.settings import LinkSettings, RouterSettings
    from tamis.configs.topology import Topology

__all__ = ["load_topology", "parse_topology", "Topology", "RouterSettings", "LinkSettings", "Address"]

_HOME = {
    "load_topology": "load",
    "parse_topology": "load",
    "Topology": "topology",
    "RouterSettings": "settings",
    "LinkSettings": "settings",
    "Address": "address",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
