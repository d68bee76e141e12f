"""Patterns and networks as constants of a program: `LIKE`, globs, CIDR.

A glob's bytes are UTF-8 with two bytes that UTF-8 never has: ANY_TEXT for any text, also none, and ANY_CHARACTER for
one character. So no escape is left for the evaluators.
"""

from __future__ import annotations

import ipaddress
from typing import Final, NamedTuple

from tamis.protocol.errors import Refused

ANY_TEXT: Final = b"\xff"
ANY_CHARACTER: Final = b"\xfe"


class Glob(NamedTuple):
    pattern: bytes


class Cidr(NamedTuple):
    """A network: its first address (4 or 16 bytes) and the bits that its addresses share."""

    address: bytes
    bits: int


def like(pattern: str, escape: str = "") -> Glob:
    """Return the glob of a SQL pattern: `%` is any text, `_` any character, both and `escape` themselves behind it."""
    if len(escape) > 1 or escape in ("%", "_"):
        raise Refused(f"an escape is one character other than % and _, not {escape!r}")
    return Glob(_translated(pattern, {"%": ANY_TEXT, "_": ANY_CHARACTER}, escape))


def glob(pattern: str, escape: str = "\\") -> Glob:
    """Return the glob of a pattern with `*` for any text and `?` for any character."""
    return Glob(_translated(pattern, {"*": ANY_TEXT, "?": ANY_CHARACTER}, escape))


def cidr(text: str) -> Cidr:
    """Return the network that a text like 10.0.0.0/8 or 2001:db8::/32 names; bits behind the prefix are cleared."""
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise Refused(f"not a network of IPv4 or IPv6: {error}") from None
    return Cidr(network.network_address.packed, network.prefixlen)


def _translated(pattern: str, wild: dict[str, bytes], escape: str) -> bytes:
    made, is_escaped = bytearray(), False
    for at, character in enumerate(pattern):
        if is_escaped:
            if character not in wild and character != escape:
                raise Refused(f"the escape {escape!r} stands before {character!r} at {at}, not before a wildcard")
            made += character.encode()
            is_escaped = False
        elif escape and character == escape:
            is_escaped = True
        elif wild.get(character) != ANY_TEXT or made[-1:] != ANY_TEXT:
            made += wild.get(character) or character.encode()
    if is_escaped:
        raise Refused(f"the escape {escape!r} ends the pattern")
    return bytes(made)


def spelled(pattern: Glob) -> str:
    """Return a glob as LIKE writes it, with the escape `\\`."""
    pieces = []
    for byte_run in _runs(pattern.pattern):
        if byte_run in (ANY_TEXT, ANY_CHARACTER):
            pieces.append("%" if byte_run == ANY_TEXT else "_")
        else:
            text = byte_run.decode()
            pieces.append("".join(f"\\{c}" if c in "%_\\" else c for c in text))
    return "".join(pieces)


def items(pattern: Glob) -> list[str | bytes]:
    """Return the pattern as characters, ANY_TEXT and ANY_CHARACTER."""
    found: list[str | bytes] = []
    for run in _runs(pattern.pattern):
        found += [run] if run in (ANY_TEXT, ANY_CHARACTER) else list(run.decode())
    return found


def _runs(pattern: bytes) -> list[bytes]:
    """Return the wildcards and the texts between them."""
    runs, start = [], 0
    for at, byte in enumerate(pattern):
        if byte >= ANY_CHARACTER[0]:
            runs += [pattern[start:at], pattern[at : at + 1]]
            start = at + 1
    return [run for run in (*runs, pattern[start:]) if run]
