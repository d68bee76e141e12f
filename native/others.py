"""Other routers, as a switch knows them: what they want, and the ways to them.

Law: routers are named by their numbers, which are never 0. Many filters cross in one call, and one that is refused does
not keep out the others.
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
}
"""Policies of forwarding, by name: their numbers in C."""


class RemoteRouters(ABC):
    """The part of `Switch` that is about other routers."""

    def __init__(self) -> None:
        self._network: Table | None = None
        self._shared: Table | None = None
        self._classes: Table | None = None
        self._generation, self._left = ffi.new("uint32_t *"), ffi.new("uint32_t *")

    @property
    @abstractmethod
    def c(self) -> _Cdata:
        """The switch as C knows it."""

    def join(self, network: Table, sources_max: int, forwarding: str = "wanted") -> None:
        """Make this router one of several. `network` is an empty table, which the switch takes over as it did its own;
        messages in transit are remembered for `sources_max` sources. `forwarding` names a policy (FORWARDINGS)."""
        check(lib.tm_switch_join(self.c, network.c, sources_max, FORWARDINGS[forwarding]))
        self._network = network

    def list_routers(self, destinations_max: int) -> None:
        """Let messages that enter here list up to `destinations_max` routers, 1 to 64, where the policy is
        `match-first`; at first up to 32."""
        check(lib.tm_switch_list_routers(self.c, destinations_max))

    def hold(self, digest: bytes | None, routers: Iterable[int] | None = None) -> None:
        """Say what the table of what others want holds, where the policy is `destinations`: what `routers` want, this
        one among them, up to 4,096, ascending (None: those before), of which `digest` is the digest. Without a digest
        messages get no sets of routers, and none are believed."""
        numbers = None if routers is None else array("Q", routers)
        c_digest = ffi.NULL if digest is None else ffi.from_buffer("uint8_t[]", digest)
        c_numbers, count = (ffi.NULL, 0) if numbers is None else (_numbers(numbers), len(numbers))
        check(lib.tm_switch_tables(self.c, c_digest, c_numbers, count))

    def classify(self, classes: Table, count: int) -> None:
        """Let messages that enter here go along the trees of roots, where the policy is `by-root`: the filters of class
        i, of `count`, are those of interface i of `classes`, which live as long and change no more. Up to 64 classes; a
        message is of the first that has a filter which it satisfies."""
        check(lib.tm_switch_classify(self.c, classes.c, count))
        self._classes = classes

    def send_by(self, roots: Sequence[int]) -> None:
        """Say by which root messages of each class go from now on, and as the last one those of no class. None at all:
        they go by the trees of their sources, as at first."""
        check(lib.tm_switch_roots(self.c, _numbers(array("Q", roots)), len(roots)))

    def tell_tree(self, before: Mapping[int, int]) -> None:
        """Say by which router, this one among them, messages that enter here come to each other one, up to 4,096 in
        all, where the policy is `destinations`. From then on a message gets a set of routers where that costs all
        routers together less. Without any, as at first, each one does."""
        numbers = array("Q", sorted(before))
        c_before = array("Q", (before[number] for number in numbers))
        check(lib.tm_switch_tree(self.c, _numbers(numbers), _numbers(c_before), len(numbers)))

    def raise_epoch(self, epoch: int) -> None:
        """Stamp messages with `epoch` from now on."""
        lib.tm_switch_raise_epoch(self.c, epoch)

    def bound_epochs(self, epoch_max: int) -> None:
        """Take no messages of epochs later than `epoch_max`; at first, 2^64-1, all are taken."""
        lib.tm_switch_bound_epochs(self.c, epoch_max)

    def forget_source(self, router: int) -> None:
        """Forget `router`, of which nothing is known any more: messages of its next life are fresh, whatever its
        epoch."""
        lib.tm_switch_forget_source(self.c, router)

    def bound_source(self, router: int, epoch_max: int) -> None:
        """Take messages of `router` up to `epoch_max`, whatever the bound for all routers is, until it is bounded again
        or forgotten; 2^64-1: the bound for all routers holds."""
        check(lib.tm_switch_bound_source(self.c, router, epoch_max))

    # --- what they want ------------------------------------------------------------------------------------------

    def share(self, shared: Table) -> None:
        """Hold filters of worker groups in `shared`, an empty table that the switch takes over as the others; they are
        matched apart. Without it such filters are refused."""
        check(lib.tm_switch_share(self.c, shared.c))
        self._shared = shared

    def install(self, router: int, filters: Mapping[int, bytes]) -> dict[int, RefusalCode]:
        """Install filters of a router under the ids that it gave them; return those refused, with the reason. Filters
        of worker groups go to the table that `share` gave."""
        if not any(isinstance(packed, Extended) for packed in filters.values()):  # as it mostly is
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
        """Take filters of a router away; return the ids of those that it did not have."""
        wanted = array("Q", ids)
        results = ffi.new("uint8_t[]", len(wanted) + 1)
        check(lib.tm_switch_uninstall(self.c, router, _numbers(wanted), len(wanted), results))
        return [id_ for index, id_ in enumerate(wanted) if results[index] != lib.TM_OK]

    def forget_router(self, router: int, steps: int) -> int:
        """Take at most `steps` filters of a router away; return how many are left."""
        check(lib.tm_switch_forget_router(self.c, router, steps, self._left))
        return int(self._left[0])

    def wanting(self, attributes: Mapping[str, Value]) -> list[int]:
        """Return the routers, ascending, with a filter that a message with `attributes` satisfies, by the live
        table."""
        numbers = self._by_interface()
        if self._network is None or not numbers:
            return []
        self._network.knows(len(numbers) - 1)
        return sorted(numbers[interface] for interface in self._network.match(attributes))

    def _by_interface(self) -> list[int]:
        """Return the numbers of the routers by the interface of their filters in the network table; 0: it is free."""
        count = ffi.new("uint32_t *")
        check(lib.tm_switch_router_numbers(self.c, ffi.NULL, 0, count))
        numbers = ffi.new("uint64_t[]", count[0] + 1)
        check(lib.tm_switch_router_numbers(self.c, numbers, count[0], count))
        return [int(number) for number in ffi.unpack(numbers, count[0])]

    # --- the ways to them ----------------------------------------------------------------------------------------

    def begin_routes(self, hop_limit: int) -> int:
        """Begin a new generation of routes, to be filled by `route` and put in force by `commit`; return its number."""
        check(lib.tm_switch_begin_routes(self.c, hop_limit, self._generation))
        return int(self._generation[0])

    def route(self, generation: int, source: int, parent: int | None, below: Mapping[int, int]) -> bool:
        """Set the route of `source`: from which neighbour its messages are taken, and for each router behind a
        neighbour, which neighbour that is.

        The generation may be in force already; False: it no longer is.
        """
        issuers, children = array("Q", below), array("Q", below.values())
        ways = (_numbers(issuers), _numbers(children), len(issuers))
        result = lib.tm_switch_route(self.c, generation, source, parent or 0, *ways)
        if result != lib.TM_ABSENT:
            check(result)
        return bool(result == lib.TM_OK)

    def route_tree(self, generation: int, root: int, ways: Mapping[int, int], below: Mapping[int, int]) -> bool:
        """Set the route of messages that name `root`: for each router on the tree of the root, behind which neighbour
        it lies, and the same for each router that may want them. They go towards the root always.

        The generation may be in force already; False: it no longer is.
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
        """Put the generation in force; the one before it stays in force for `hold_ms`. For `wait_ms` messages by the
        new way of their source wait for those by an earlier one."""
        check(lib.tm_switch_commit(self.c, hold_ms, wait_ms))

    def retake(self, connection: int, frame: bytes) -> None:
        """Take the frame of an event UNROUTED once more; if there is still no route, it is dropped. Raises Gone if the
        connection has ended."""
        check_alive(lib.tm_switch_retake(self.c, connection, ffi.from_buffer(frame), len(frame)))


def bad_filters(filters: Batch) -> list[int]:
    """Return the indices of the items of the batch that are no packed filters."""
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
