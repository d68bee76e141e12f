"""Other routers in a switch: their filters, and the routes to them.

Law: routers are identified by their numbers, which are never 0. One call passes many filters, and a refused one does
not affect the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tamis.native._tm import ffi, lib
from tamis.native.batch import Batch
from tamis.native.results import check, check_alive
from tamis.native.table import Table
from tamis.protocol.values import Value
from tamis.protocol.wire.codes import RefusalCode
from tamis.protocol.wire.numbers import group_number
from tamis.protocol.wire.routing_bodies import Extended

_Cdata = Any  # cffi's types exist only at run time

_REFUSALS: Final = {
    lib.TM_MALFORMED: RefusalCode.BAD_FILTER,
    lib.TM_TOO_MANY: RefusalCode.BAD_FILTER,
    lib.TM_NO_MEMORY: RefusalCode.OUT_OF_MEMORY,
    lib.TM_MISUSED: RefusalCode.ID_IN_USE,
}
FORWARDINGS: Final[Mapping[str, int]] = {
    "wanted": lib.TM_FORWARD_WANTED,
    "flood": lib.TM_FORWARD_FLOOD,
    "match-first": lib.TM_FORWARD_MATCH_FIRST,
    "destinations": lib.TM_FORWARD_DESTINATIONS,
    "by-root": lib.TM_FORWARD_BY_ROOT,
    "keys": lib.TM_FORWARD_KEYS,
}
"""Forwarding policies: name to number in C."""


class RemoteRouters(ABC):
    """The part of `Switch` that concerns other routers."""

    def __init__(self) -> None:
        self._network: Table | None = None
        self._shared: Table | None = None
        self._classes: Table | None = None
        self._generation, self._left = ffi.new("uint32_t *"), ffi.new("uint32_t *")

    @property
    @abstractmethod
    def c(self) -> _Cdata:
        """The switch in C."""

    def join(self, network: Table, sources_max: int, forwarding: str = "wanted") -> None:
        """Connect the switch to other routers. `network`: an empty table for their filters, changed only through the
        switch from here on; `sources_max`: most sources whose messages in transit are remembered; `forwarding`: name of
        a policy (FORWARDINGS)."""
        check(lib.tm_switch_join(self.c, network.c, sources_max, FORWARDINGS[forwarding]))
        self._network = network

    def list_routers(self, destinations_max: int) -> None:
        """Set the most routers, 1 to 64, that a message which enters here lists under the policy `match-first`; the
        default is 32."""
        check(lib.tm_switch_list_routers(self.c, destinations_max))

    def limit_keys(self, keys_max: int) -> None:
        """Set the most keys of matching filters that a copy carries, for forwarding `keys`."""
        check(lib.tm_switch_limit_keys(self.c, keys_max))

    def hold(self, digest: bytes | None, routers: Iterable[int] | None = None) -> None:
        """Set which filters the network table has, for the policy `destinations`: those of `routers`, this one among
        them, ascending, at most 4,096 (None: unchanged), with the digest `digest`. Without a digest messages get no
        sets of routers, and received sets are ignored."""
        numbers = None if routers is None else array("Q", routers)
        c_digest = ffi.NULL if digest is None else ffi.from_buffer("uint8_t[]", digest)
        c_numbers, count = (ffi.NULL, 0) if numbers is None else (_numbers(numbers), len(numbers))
        check(lib.tm_switch_tables(self.c, c_digest, c_numbers, count))

    def classify(self, classes: Table, count: int) -> None:
        """Set the classes of messages that enter here, for the policy `by-root`: the filters of class i are those of
        interface i of `classes`, which this switch keeps alive and whose filters must not change. There are `count`
        classes, at most 64; a message belongs to the first class with a filter that it satisfies."""
        check(lib.tm_switch_classify(self.c, classes.c, count))
        self._classes = classes

    def send_by(self, roots: Sequence[int]) -> None:
        """Set the root of each class, and last that of messages in no class, from now on. Without roots messages are
        forwarded along the trees of their sources, as at the start."""
        check(lib.tm_switch_roots(self.c, _numbers(array("Q", roots)), len(roots)))

    def tell_tree(self, before: Mapping[int, int]) -> None:
        """Set the tree of messages that enter here, for the policy `destinations`: `before` has for each other router,
        at most 4,096, the router that forwards to it. From then on a message gets a set of routers if that lowers the
        total cost of all routers. Without a tree, as at the start, each message gets one."""
        numbers = array("Q", sorted(before))
        c_before = array("Q", (before[number] for number in numbers))
        check(lib.tm_switch_tree(self.c, _numbers(numbers), _numbers(c_before), len(numbers)))

    def raise_epoch(self, epoch: int) -> None:
        """Stamp messages with `epoch` from now on."""
        lib.tm_switch_raise_epoch(self.c, epoch)

    def bound_epochs(self, epoch_max: int) -> None:
        """Reject messages of epochs later than `epoch_max`; at the start, 2^64-1, all are accepted."""
        lib.tm_switch_bound_epochs(self.c, epoch_max)

    def forget_source(self, router: int) -> None:
        """Remove all state of a source: later messages of `router` are accepted as new, with any epoch."""
        lib.tm_switch_forget_source(self.c, router)

    def bound_source(self, router: int, epoch_max: int) -> None:
        """Set the largest epoch of messages of `router`, in place of the bound for all routers, until it is bounded
        again or forgotten; 2^64-1 restores the bound for all routers."""
        check(lib.tm_switch_bound_source(self.c, router, epoch_max))

    # --- filters -------------------------------------------------------------------------------------------------

    def share(self, shared: Table) -> None:
        """Set the table for filters of worker groups, an empty one that is changed only through the switch from here
        on; it is matched separately. Without it such filters are refused."""
        check(lib.tm_switch_share(self.c, shared.c))
        self._shared = shared

    def install(self, router: int, filters: Mapping[int, bytes]) -> dict[int, RefusalCode]:
        """Install filters of a router under its ids; return the refused ids with their reasons. Filters of worker
        groups are added to the table of `share`."""
        if not any(isinstance(packed, Extended) for packed in filters.values()):  # the usual case
            return self._install(router, filters)
        shared = {id_: packed for id_, packed in filters.items() if isinstance(packed, Extended) and packed.group}
        others = {id_: packed for id_, packed in filters.items() if id_ not in shared}
        return self._install(router, others) | self._install_shared(router, shared)

    def _install(self, router: int, filters: Mapping[int, bytes]) -> dict[int, RefusalCode]:
        batch, ids = Batch.of(filters.values()), array("Q", filters)
        results = ffi.new("uint8_t[]", len(ids) + 1)
        check(lib.tm_switch_install(self.c, router, *_where(batch, ids), len(ids), results))
        return _refused(ids, results)

    def _install_shared(self, router: int, filters: Mapping[int, Extended]) -> dict[int, RefusalCode]:
        batch, ids = Batch.of(filters.values()), array("Q", filters)
        results = ffi.new("uint8_t[]", len(ids) + 1)
        rows = ffi.new("tm_shared_filter[]", len(ids) + 1)
        for index, packed in enumerate(filters.values()):
            rows[index].group, rows[index].members = group_number(packed.group), packed.members
        check(lib.tm_switch_install_shared(self.c, router, *_where(batch, ids), rows, len(ids), results))
        return _refused(ids, results)

    def uninstall(self, router: int, ids: Iterable[int]) -> list[int]:
        """Remove filters of a router; return the ids that it did not have."""
        wanted = array("Q", ids)
        results = ffi.new("uint8_t[]", len(wanted) + 1)
        check(lib.tm_switch_uninstall(self.c, router, _numbers(wanted), len(wanted), results))
        return [id_ for index, id_ in enumerate(wanted) if results[index] != lib.TM_OK]

    def forget_router(self, router: int, steps: int) -> int:
        """Remove at most `steps` filters of a router; return the number of those left."""
        check(lib.tm_switch_forget_router(self.c, router, steps, self._left))
        return int(self._left[0])

    def wanting(self, attributes: Mapping[str, Value]) -> list[int]:
        """Return the routers, ascending, that have a filter in the live table which `attributes` satisfy."""
        numbers = self._by_interface()
        if self._network is None or not numbers:
            return []
        self._network.knows(len(numbers) - 1)
        return sorted(numbers[interface] for interface in self._network.match(attributes))

    def _by_interface(self) -> list[int]:
        """Return the numbers of routers by the interface of their filters in the network table; 0 for a free one."""
        count = ffi.new("uint32_t *")
        check(lib.tm_switch_router_numbers(self.c, ffi.NULL, 0, count))
        numbers = ffi.new("uint64_t[]", count[0] + 1)
        check(lib.tm_switch_router_numbers(self.c, numbers, count[0], count))
        return [int(number) for number in ffi.unpack(numbers, count[0])]

    # --- routes --------------------------------------------------------------------------------------------------

    def begin_routes(self, hop_limit: int) -> int:
        """Begin a generation of routes, which `route` fills and `commit` activates; return its number."""
        check(lib.tm_switch_begin_routes(self.c, hop_limit, self._generation))
        return int(self._generation[0])

    def route(self, generation: int, source: int, parent: int | None, below: Mapping[int, int]) -> bool:
        """Set the route of `source`. `parent`: the neighbour from which its messages are accepted; `below`: router to
        the neighbour that leads to it.

        The generation may be active already; return False if it no longer is.
        """
        issuers, children = array("Q", below), array("Q", below.values())
        ways = (_numbers(issuers), _numbers(children), len(issuers))
        result = lib.tm_switch_route(self.c, generation, source, parent or 0, *ways)
        if result != lib.TM_ABSENT:
            check(result)
        return bool(result == lib.TM_OK)

    def route_tree(self, generation: int, root: int, ways: Mapping[int, int], below: Mapping[int, int]) -> bool:
        """Set the route of messages that name `root`, which are always forwarded towards the root. `ways`: each router
        on the tree of the root to the neighbour that leads to it; `below`: this mapping for each router that may have
        matching interest.

        The generation may be active already; return False if it no longer is.
        """
        routers, towards = array("Q", ways), array("Q", ways.values())
        issuers, children = array("Q", below), array("Q", below.values())
        of_routers = (_numbers(routers), _numbers(towards), len(routers))
        of_issuers = (_numbers(issuers), _numbers(children), len(issuers))
        result = lib.tm_switch_route_tree(self.c, generation, root, *of_routers, *of_issuers)
        if result != lib.TM_ABSENT:
            check(result)
        return bool(result == lib.TM_OK)

    def commit(self, hold_ms: int, wait_ms: int = 0) -> None:
        """Activate the generation; the one before it stays active for `hold_ms`. For `wait_ms`, messages on the new
        route of their source wait for those on an earlier one."""
        check(lib.tm_switch_commit(self.c, hold_ms, wait_ms))

    def retake(self, connection: int, frame: bytes) -> None:
        """Process the frame of an event UNROUTED again; drop it if there is still no route. Raise Gone if the
        connection has ended."""
        check_alive(lib.tm_switch_retake(self.c, connection, ffi.from_buffer(frame), len(frame)))


def bad_filters(filters: Batch) -> list[int]:
    """Return the indices of items of the batch that are not packed filters."""
    results = ffi.new("uint8_t[]", len(filters) + 1)
    offsets = ffi.from_buffer("uint64_t[]", filters.offsets)
    check(lib.tm_filters_check(ffi.from_buffer(filters.data), offsets, len(filters), results))
    return [index for index in range(len(filters)) if results[index] != lib.TM_OK]


def _where(batch: Batch, ids: array[int]) -> tuple[_Cdata, _Cdata, _Cdata]:
    return ffi.from_buffer(batch.data), ffi.from_buffer("uint64_t[]", batch.offsets), _numbers(ids)


def _refused(ids: array[int], results: _Cdata) -> dict[int, RefusalCode]:
    codes = zip(ids, ffi.unpack(results, len(ids)), strict=True) if ids else ()
    return {id_: _REFUSALS[code] for id_, code in codes if code != lib.TM_OK}


def _numbers(values: array[int]) -> _Cdata:
    return ffi.from_buffer("uint64_t[]", values)
