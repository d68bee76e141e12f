"""The names of attributes that filters of a network use, asked of a router once an event has too many values.

Law: a router that does not answer is no mistake: the first values of an event stay, and the rest is told as left out.
"""

from __future__ import annotations

import contextlib
import time
from typing import Final

import click

from tamis.cli.reach.admin import AdminTarget, NoAnswer, routers
from tamis.cli.reach.other_address import admin_of

REFRESH_S: Final = 10.0
NAMES_MAX: Final = 100_000


class WantedNames:
    """`address`: of the router, as clients know it."""

    def __init__(self, address: str) -> None:
        self.is_left_out = False
        """Whether a message had no room for a value of an event."""
        self._address = address
        self._names: frozenset[str] = frozenset()
        self._asked_s: float | None = None

    def now(self) -> frozenset[str]:
        """Return the names, which are asked for again after REFRESH_S."""
        now_s = time.monotonic()
        if self._asked_s is None or now_s - self._asked_s >= REFRESH_S:
            self._asked_s = now_s
            with contextlib.suppress(NoAnswer, click.UsageError):  # it knows no administration of some addresses
                self._names = frozenset(self._router().items("/names", NAMES_MAX))
        return self._names

    def _router(self) -> AdminTarget:
        """Return the administration that belongs to the address, or else the default one."""
        with contextlib.suppress(click.UsageError):
            return routers(admin_of(self._address))[0]
        return routers(None)[0]
