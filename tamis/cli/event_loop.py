"""The event loop of commands that use asyncio: uvloop's if it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run(task: Coroutine[Any, Any, Result]) -> Result:
    try:
        from uvloop import new_event_loop
    except ModuleNotFoundError:
        return asyncio.run(task)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(task)
