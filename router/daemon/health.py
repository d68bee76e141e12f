"""Conditions for the operator: alarms, problems and unexpected exceptions.

Law: an unexpected exception in a handler is a bug: it ends the connection or the task in which it occurred, is logged
with its trace, counted, and raises an alarm. Three within a minute make the router unready until a minute has passed
without one. An alarm is logged and counted; the last ALARMS_KEPT are shown.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from tamis.router.daemon.logs import fields

REPEATS: Final = 3
WITHIN_S: Final = 60.0
ALARMS_KEPT: Final = 16

_log = logging.getLogger(__name__)


class Shown(NamedTuple):
    """An alarm; `at_s` is Unix time."""

    at_s: float
    text: str


class _Problem(NamedTuple):
    text: str
    end_s: float | None
    is_ready: bool


class Health:
    """Alarms and problems of one router. `problems` maps names to a sentence for each fault of the serving router;
    `unready` has those of them for which it is not ready."""

    def __init__(
        self, now_s: Callable[[], float] = time.monotonic, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        """`tell` is called with the text of each alarm."""
        self._now_s, self._tell = now_s, tell
        self._bugs_s: deque[float] = deque(maxlen=REPEATS)
        self.exceptions = self.alarms = 0
        self.recent: deque[Shown] = deque(maxlen=ALARMS_KEPT)
        self._problems: dict[str, _Problem] = {}
        self._alarmed_s: dict[str, float] = {}

    def alarm(self, text: str) -> None:
        self.alarms += 1
        self.recent.append(Shown(time.time(), text))
        self._tell(text)

    def alarm_once(self, what: str, text: str) -> None:
        """Raise an alarm at most once a minute for each `what`, of which there are few."""
        if self._now_s() - self._alarmed_s.get(what, -WITHIN_S) >= WITHIN_S:
            self._alarmed_s[what] = self._now_s()
            self.alarm(text)

    def caught(self, what: str, error: BaseException | None = None, **about: object) -> None:
        """Log and count an unexpected exception: the one being handled, or `error` outside a handler."""
        _log.error(what, exc_info=error or True, extra=fields(**about))
        self.exceptions += 1
        self._bugs_s.append(self._now_s())
        self.alarm(f"{what}: a bug of this router; see the trace in its log")

    def problem(self, name: str, text: str, for_s: float | None = None, *, is_ready: bool = False) -> None:
        """Add a problem for `for_s` seconds, or (None) until `mended` is called with `name`; `is_ready`: the router
        stays ready."""
        self._problems[name] = _Problem(text, None if for_s is None else self._now_s() + for_s, is_ready)

    def mended(self, name: str) -> None:
        self._problems.pop(name, None)

    @property
    def problems(self) -> dict[str, str]:
        now_s = self._now_s()
        lasting = {name: each for name, each in self._problems.items() if each.end_s is None or now_s < each.end_s}
        return {name: each.text for name, each in lasting.items()} | self._exceptions(now_s)

    @property
    def unready(self) -> dict[str, str]:
        return {
            name: text
            for name, text in self.problems.items()
            if name not in self._problems or not self._problems[name].is_ready
        }

    def _exceptions(self, now_s: float) -> dict[str, str]:
        bugs_s = self._bugs_s
        if len(bugs_s) == REPEATS and bugs_s[-1] - bugs_s[0] < WITHIN_S and now_s - bugs_s[-1] < WITHIN_S:
            return {"exceptions": f"{REPEATS} exceptions within a minute; see the traces in its log"}
        return {}
