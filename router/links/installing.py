"""The filters of other routers, put into the switch's table and removed from it.

Law: jobs are done in their order, except those that must be done at once, which no other job concerns. A short job is
done at once if none is before it, a long one in slices; filters are added before others are removed, which leaves none
missing in between. A filter that the table refuses is counted and left out, and affects no other.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Final, Protocol

from tamis.protocol.wire.codes import RefusalCode
from tamis.router.connections.work import SlicedWork
from tamis.router.core.commands import Install
from tamis.router.daemon.logs import fields

FILTERS_AT_ONCE: Final = 50
BYTES_AT_ONCE: Final = 16_384
"""Bytes of filters added between two checks of the clock; a longer filter is added alone."""
REMOVED_AT_ONCE: Final = 32
SLICE_S: Final = 0.003
"""Seconds of one slice. The cost of a filter depends on the table and on the filter's length, which is unknown here for
a removal: few filters are therefore handled between two checks of the clock."""

_log = logging.getLogger(__name__)
_Job = Generator[None, None, None]


class FilledSwitch(Protocol):
    """The switch, as the filling of its table needs it."""

    def install(self, router: int, filters: Mapping[int, bytes]) -> dict[int, RefusalCode]:
        """Put filters of a router into the table; return those refused, with the reason."""

    def uninstall(self, router: int, ids: Iterable[int]) -> object:
        """Remove filters of a router from the table."""


class Installer:
    """The queue of jobs of one switch; `settle` is called after filters were removed."""

    def __init__(self, switch: FilledSwitch, work: SlicedWork, settle: Callable[[], None]) -> None:
        self._switch, self._work, self._settle = switch, work, settle
        self._jobs: deque[_Job] = deque()
        self.refused = 0
        self.is_whole = True
        """Whether every filter since the start is in the table, none left out through a refusal or a bug."""

    @property
    def is_idle(self) -> bool:
        return not self._jobs

    def add(self, install: Install) -> None:
        if install.at_once:
            self._install_some(install.issuer, dict(install.added))
        else:
            self._queue(self._install(install.issuer, install.added, install.removed))

    def afterwards(self, do: Callable[[], None]) -> None:
        """Call `do` when all filters added until now are in the table."""
        self._queue(_once(do))

    def _queue(self, job: _Job) -> None:
        if not self._jobs and next(job, self) is self:
            return
        self._jobs.append(job)
        if len(self._jobs) == 1:
            self._work.add(self._run(), self._failed)

    def _run(self) -> _Job:
        while self._jobs:
            yield from self._jobs[0]
            self._jobs.popleft()

    def _failed(self) -> None:
        """Drop a job that has failed through a bug, and continue with those behind it."""
        self.is_whole = False
        self._jobs.popleft()
        if self._jobs:
            self._work.add(self._run(), self._failed)

    def _install(self, issuer: int, added: Mapping[int, bytes], removed: tuple[int, ...]) -> _Job:
        end_s = time.monotonic() + SLICE_S
        for some in _slices(added):
            if time.monotonic() > end_s:
                yield
                end_s = time.monotonic() + SLICE_S
            self._install_some(issuer, some)
        for start in range(0, len(removed), REMOVED_AT_ONCE):
            if time.monotonic() > end_s:
                yield
                end_s = time.monotonic() + SLICE_S
            self._switch.uninstall(issuer, removed[start : start + REMOVED_AT_ONCE])
        if removed:
            self._settle()

    def _install_some(self, issuer: int, filters: dict[int, bytes]) -> None:
        refused = self._switch.install(issuer, filters)
        changed = {id_: filters[id_] for id_, code in refused.items() if code == RefusalCode.ID_IN_USE}
        if changed:
            self._switch.uninstall(issuer, changed)
            refused = {id_: code for id_, code in refused.items() if id_ not in changed}
            refused |= self._switch.install(issuer, changed)
        if refused:
            self.refused += len(refused)
            self.is_whole = False
            _log.warning("the table refused filters of a router", extra=fields(issuer=issuer, count=len(refused)))


def _slices(filters: Mapping[int, bytes]) -> Iterator[dict[int, bytes]]:
    some: dict[int, bytes] = {}
    size = 0
    for id_, packed in filters.items():
        if some and (len(some) == FILTERS_AT_ONCE or size + len(packed) > BYTES_AT_ONCE):
            yield some
            some, size = {}, 0
        some[id_] = packed
        size += len(packed)
    if some:
        yield some


def _once(do: Callable[[], None]) -> _Job:
    do()
    yield from ()
