"""Requests to a supervisor about one of its routers, over a socket in its state folder.

    {"do": "restart", "router": "b"}        a line of JSON; `stop`, `start` and `reload` alike, `adopt` without a router
    {"router": "b", "state": "ready", ...}  the reply, when it is done; {"error": "..."} if it fails

Law: only the user of the supervisor may send requests (mode 0600). A request has at most REQUEST_BYTES_MAX, and a
supervisor handles at most REQUESTS_MAX at once: more wait. The socket is addressed by the folder's descriptor, as a
path of the home may exceed the limit of a socket's path.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final, Protocol

from tamis.protocol.errors import TamisError
from tamis.router.supervisor.state import StateFolder, SupervisorError

NAME: Final = "control.sock"
REQUEST_BYTES_MAX: Final = 4_096
REQUEST_S: Final = 5.0
"""Seconds within which a request must be complete."""
REQUESTS_MAX: Final = 16


class Controlled(Protocol):
    """The operations of requests; each returns the reply, or raises SupervisorError with the reason."""

    async def stop_router(self, router_id: str) -> dict[str, Any]: ...

    async def start_router(self, router_id: str) -> dict[str, Any]: ...

    async def restart_router(self, router_id: str) -> dict[str, Any]: ...

    async def reload_router(self, router_id: str) -> dict[str, Any]: ...

    async def adopt(self) -> dict[str, Any]: ...


class ControlDoor:
    """The supervisor's end."""

    def __init__(self, folder: Path, controlled: Controlled) -> None:
        """Listen in `folder`, of which the caller holds the lock."""
        self._folder, self._controlled = folder, controlled
        self._turns = asyncio.Semaphore(REQUESTS_MAX)
        self._talks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Handle requests as long as the context lasts."""
        (self._folder / NAME).unlink(missing_ok=True)  # left behind by a supervisor that was killed
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        os.fchmod(sock.fileno(), 0o600)  # Linux creates the file with the mode of its socket
        with _short(self._folder) as path:
            sock.bind(path)
        server = await asyncio.start_unix_server(self._talk, sock=sock, limit=REQUEST_BYTES_MAX)
        try:
            yield
        finally:
            server.close()
            for talk in self._talks:
                talk.cancel()
            (self._folder / NAME).unlink(missing_ok=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        assert talk is not None  # noqa: S101 - asyncio runs this as a task
        self._talks.add(talk)
        try:
            async with self._turns:
                async with asyncio.timeout(REQUEST_S):
                    request = await reader.readline()
                writer.write(json.dumps(await self._answer(request)).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError, TimeoutError, asyncio.CancelledError):
            pass  # the requester went away, sent too much or nothing, or the supervisor ends
        finally:
            self._talks.discard(talk)
            writer.close()

    async def _answer(self, request: bytes) -> dict[str, Any]:
        controlled = self._controlled
        by_name = {
            "stop": controlled.stop_router,
            "start": controlled.start_router,
            "restart": controlled.restart_router,
            "reload": controlled.reload_router,
        }
        try:
            asked = json.loads(request)
            if asked["do"] == "adopt":
                return await controlled.adopt()
            return await by_name[asked["do"]](str(asked["router"]))
        except TamisError as error:
            return {"error": str(error)}
        except (ValueError, KeyError, TypeError):
            return {
                "error": f"a request must be {{'do': ..., 'router': ...}}; 'do' is one of: {', '.join(by_name)}, adopt"
            }


def ask(folder: StateFolder, request: dict[str, str], patience_s: float) -> dict[str, Any]:
    """Return the reply of the supervisor of `folder`; SupervisorError if there is none within `patience_s`."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(patience_s)
    try:
        with sock:
            with _short(folder.path) as path:
                sock.connect(path)
            sock.sendall(json.dumps(request).encode() + b"\n")
            with sock.makefile("rb") as lines:
                answer: dict[str, Any] = json.loads(lines.readline())
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
        raise SupervisorError(
            "no `tamis up` runs its routers on this machine; start them with `tamis up FILE`"
        ) from None
    except TimeoutError:
        raise SupervisorError(f"its supervisor did not answer within {patience_s:g} s") from None
    except (OSError, ValueError) as error:
        raise SupervisorError(f"its supervisor did not answer: {error}") from None
    if "error" in answer:
        raise SupervisorError(str(answer["error"]))
    return answer


@contextlib.contextmanager
def _short(folder: Path) -> Iterator[str]:
    """Yield a short path of the socket in `folder`."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{NAME}"
    finally:
        os.close(descriptor)
