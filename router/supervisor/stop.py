"""The stop of a supervisor's routers from outside.

Law: only processes that state.json names, with the start it names, are signalled. The supervisor is signalled first,
and stops its routers itself; the routers of a supervisor that was killed are stopped one by one.
"""

from __future__ import annotations

import contextlib
import enum
import signal
import time
from typing import Final

from tamis.router.supervisor.identity import Handle, held
from tamis.router.supervisor.state import NetworkState, StateFolder, SupervisorError

_MARGIN_S: Final = 5.0
"""Seconds that a supervisor may take beyond its slowest router."""


class End(enum.StrEnum):
    STOPPED = "stopped"
    KILLED = "killed"
    GONE = "was not running"


def stop_routers(folder: StateFolder) -> dict[str, End]:
    """Stop all routers; return how each ended, by id. SupervisorError if none was started."""
    state = folder.read()
    if state is None:
        raise SupervisorError("none of its routers was started by `tamis up`")
    with held(state.supervisor) as supervisor:
        if supervisor is not None:
            _end(supervisor, state.stop_s + _MARGIN_S)
    left = folder.read()
    if left is None:  # the supervisor has stopped all of them, and then removed its state
        return {router_id: End.STOPPED if router.pid else End.GONE for router_id, router in state.routers.items()}
    try:
        return _stop_each(left)
    finally:
        folder.forget()


def _stop_each(state: NetworkState) -> dict[str, End]:
    ends: dict[str, End] = {}
    with contextlib.ExitStack() as stack:
        handles = {
            router_id: stack.enter_context(held(router.identity)) if router.identity else None
            for router_id, router in state.routers.items()
        }
        running = {router_id: handle for router_id, handle in handles.items() if handle is not None}
        for handle in running.values():
            handle.signal(signal.SIGTERM)
        deadline_s = time.monotonic() + state.stop_s
        for router_id, handle in running.items():
            ends[router_id] = _waited(handle, deadline_s - time.monotonic())
    return {router_id: ends.get(router_id, End.GONE) for router_id in state.routers}


def _end(handle: Handle, seconds: float) -> End:
    handle.signal(signal.SIGTERM)
    return _waited(handle, seconds)


def _waited(handle: Handle, seconds: float) -> End:
    if handle.wait(seconds):
        return End.STOPPED
    handle.signal(signal.SIGKILL)
    return End.KILLED
