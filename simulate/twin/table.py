"""The issuers with filters that match a message, in plain Python; the table of a router is in C.

Law: contents are few and numbered, so a filter is the set of contents that it matches, as the bits of an integer.
`tamis.protocol.evaluate` computes that set once for each filter. Filters of worker groups are stored separately: by
these alone no message is sent to a router; the router must also have been chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tamis.protocol.evaluate import filter_matches
from tamis.protocol.values import Value
from tamis.protocol.wire.numbers import filter_key, group_number
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.protocol.wire.routing_bodies import Extended


class Matches:
    """Computes which contents a packed filter matches, once for all tables of a run."""

    __slots__ = ("_contents", "_known")

    def __init__(self, contents: Sequence[Mapping[str, Value]]) -> None:
        self._contents = contents
        self._known: dict[bytes, int] = {}

    def of(self, packed: bytes) -> int:
        bits = self._known.get(packed)
        if bits is None:
            filter_ = decode_filter(packed)
            bits = sum(1 << number for number, each in enumerate(self._contents) if filter_matches(filter_, each))
            self._known[packed] = bits
        return bits


class PureTable:
    """The table by which a router's forwarder matches, in plain Python."""

    __slots__ = ("_bits", "_found", "_issuers", "_keys", "_matches", "_shared", "filters")

    def __init__(self, matches: Matches) -> None:
        self.filters: dict[int, dict[int, bytes]] = {}
        """Maps an issuer to its packed filters, by id."""
        self._matches = matches
        self._bits: dict[int, int] = {}
        self._found: dict[int, tuple[int, ...]] = {}
        self._keys: dict[int, tuple[tuple[int, int], ...]] = {}
        self._issuers: dict[int, tuple[int, ...]] = {}
        self._shared: dict[int, tuple[tuple[int, int, int], ...]] = {}
        """Maps an issuer to its filters of groups, each with the number of the group, the contents and the members."""

    def install(self, issuer: int, added: Mapping[int, bytes], removed: Sequence[int]) -> None:
        held = self.filters.setdefault(issuer, {})
        held.update(added)
        for each in removed:
            del held[each]
        for known in (self._found, self._keys, self._issuers):
            known.clear()
        if not held:
            del self.filters[issuer]
            self._bits.pop(issuer, None)
            self._shared.pop(issuer, None)
            return
        bits, shared = 0, []
        for packed in held.values():
            if isinstance(packed, Extended) and packed.group:
                shared.append((group_number(packed.group), self._matches.of(packed), packed.members))
            else:
                bits |= self._matches.of(packed)
        self._bits[issuer] = bits
        self._shared[issuer] = tuple(shared)

    def matching(self, content: int) -> tuple[int, ...]:
        """Return the issuers whose filters match `content`, ascending."""
        found = self._found.get(content)
        if found is None:
            found = tuple(sorted(issuer for issuer, bits in self._bits.items() if bits >> content & 1))
            self._found[content] = found
        return found

    def keys_of(self, content: int) -> tuple[tuple[int, int], ...]:
        """Return (issuer, key) of each filter that matches `content` and is of no group."""
        found = self._keys.get(content)
        if found is None:
            found = tuple(
                (issuer, key) for issuer, key, packed in self._keyed() if self._matches.of(packed) >> content & 1
            )
            self._keys[content] = found
        return found

    def issuers_of(self, key: int) -> tuple[int, ...]:
        """Return the issuer of each filter with this key; more than one if the key names none."""
        if not self._issuers:
            for issuer, each, _ in self._keyed():
                self._issuers[each] = (*self._issuers.get(each, ()), issuer)
        return self._issuers.get(key, ())

    def _keyed(self) -> Iterator[tuple[int, int, bytes]]:
        for issuer, held in self.filters.items():
            for id_, packed in held.items():
                if not (isinstance(packed, Extended) and packed.group):
                    yield issuer, filter_key(issuer, id_), packed

    def members(self, content: int) -> dict[int, dict[int, int]]:
        """Return by group and router the number of members that are stated for `content`."""
        found: dict[int, dict[int, int]] = {}
        for issuer, shared in self._shared.items():
            for group, bits, members in shared:
                if bits >> content & 1:
                    weights = found.setdefault(group, {})
                    weights[issuer] = weights.get(issuer, 0) + members
        return found

    def wanted_by(self, issuer: int) -> int:
        """Return the contents that the filters of `issuer` in this table match."""
        return self._bits.get(issuer, 0)
