"""Whether the neighbours of a router have its rules of access, by the digests that they state.

Law: routers state the digest when they greet, and with each comparison (`SenderRequest.access`). A difference counts
once it has lasted for DIFFERS_S, as the routers of a network read a changed file one after the other. A partner has
rules of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from tamis.protocol.limits import ACCESS_DIGEST_BYTES
from tamis.protocol.wire.session_bodies import ACCESS
from tamis.router.daemon.health import Health
from tamis.router.links.around import ComparedRules

DIFFERS_S: Final = 5.0
"""How long rules may differ before that is an alarm, in seconds; several times the time of `tamis reload`."""


class ToldNeighbour(Protocol):
    """A neighbour and the digest that it stated last, in hexadecimal digits; empty: it has no rules."""

    rules: str

    @property
    def name(self) -> str: ...

    @property
    def is_compared(self) -> bool:
        """Whether it is linked, and should have the same rules."""


def digest_of(rules: ComparedRules | None) -> str:
    """Return the digest that a router with these rules states; empty if it has none."""
    return "" if rules is None else rules.digest[: 2 * ACCESS_DIGEST_BYTES]


def stated(capabilities: Iterable[str]) -> str:
    """Return the digest in the capabilities of a router; empty if it has no rules."""
    return next((each.removeprefix(ACCESS) for each in capabilities if each.startswith(ACCESS)), "")


def differing(mine: str, theirs: str) -> str:
    """Return how two digests differ, as part of a sentence; empty if they do not."""
    if mine == theirs:
        return ""
    return f"it has {f'access rules {theirs}' if theirs else 'no access rules'}, and this router has {mine or 'none'}"


class SameRules:
    """Watches the neighbours of a router. `cut` ends the link to one for a reason."""

    def __init__(
        self,
        rules: ComparedRules | None,
        neighbours: Iterable[ToldNeighbour],
        health: Health,
        later: Callable[[float, Callable[[], None]], asyncio.TimerHandle],
        cut: Callable[[str, str], None],
    ) -> None:
        self._neighbours, self._health, self._later, self._cut = tuple(neighbours), health, later, cut
        self._shown: dict[str, str] = {}
        self._look_at: asyncio.TimerHandle | None = None
        self.use(rules)

    def use(self, rules: ComparedRules | None) -> None:
        """Compare with other rules from now on."""
        self.mine, self.is_strict = digest_of(rules), rules is not None and rules.is_strict
        self.look()

    def look(self) -> None:
        """Look now at what has ended, and soon at what differs."""
        for neighbour in self._neighbours:
            if not neighbour.is_compared or not differing(self.mine, neighbour.rules):
                self._shown.pop(neighbour.name, None)
                self._health.mended(f"access {neighbour.name}")
            elif self._look_at is None:
                self._look_at = self._later(DIFFERS_S, self._show)

    def close(self) -> None:
        if self._look_at is not None:
            self._look_at.cancel()

    def _show(self) -> None:
        self._look_at = None
        for neighbour in self._neighbours:
            what = differing(self.mine, neighbour.rules) if neighbour.is_compared else ""
            if what and self._shown.get(neighbour.name) != what:
                self._shown[neighbour.name] = what
                text = f"the rules of neighbour {neighbour.name} differ: {what}; do both read one file?"
                self._health.alarm(text)
                self._health.problem(f"access {neighbour.name}", text, is_ready=True)
            if what and self.is_strict:
                self._cut(neighbour.name, f"{what}, and these are strict")
