"""Long work in short slices, between which the loop does other work.

Law: a task is a generator that yields after each slice; tasks take turns, one slice in each turn of the loop, so that
none waits for a longer one. A task that raises ends, and its `failed` is called.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Generator

Task = Generator[None, None, None]

_log = logging.getLogger(__name__)


def _log_it(what: str) -> None:
    _log.exception(what)


class SlicedWork:
    """Tasks that take turns. `call_soon`: calls a function at the next turn of the loop; `caught`: called with a log
    line when a task has raised, while the exception is handled."""

    def __init__(
        self, call_soon: Callable[[Callable[[], None]], object], caught: Callable[[str], None] = _log_it
    ) -> None:
        self._call_soon, self._caught = call_soon, caught
        self._tasks: deque[tuple[Task, Callable[[], None] | None]] = deque()

    @property
    def is_idle(self) -> bool:
        return not self._tasks

    def add(self, task: Task, failed: Callable[[], None] | None = None) -> None:
        self._tasks.append((task, failed))
        if len(self._tasks) == 1:
            self._call_soon(self._turn)

    def stop(self) -> None:
        """Drop all tasks without running them further."""
        self._tasks.clear()

    def _turn(self) -> None:
        if not self._tasks:
            return
        task, failed = self._tasks[0]
        try:
            next(task)
            self._tasks.rotate(-1)
        except StopIteration:
            self._tasks.popleft()
        except Exception:  # a bug in one task: it ends, and the others continue
            self._caught("a task failed")
            self._tasks.popleft()
            if failed is not None:
                failed()
        if self._tasks:
            self._call_soon(self._turn)
