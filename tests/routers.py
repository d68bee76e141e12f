"""Routers for tests that ask the daemon itself: small topologies on Unix sockets, written here.

What starts them is `tamis.testing`.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tamis.testing import blocking, free_port


@dataclass(frozen=True, slots=True)
class Running:
    """`file` is its topology file; `client` and `admin` are where it listens, in the words of the daemon."""

    file: str
    client: str
    admin: str
    pid: int = 0


@contextlib.contextmanager
def running(
    folder: Path, keys: str = "", files: int | None = None, admin: str = "unix:admin.sock"
) -> Iterator[Running]:
    """A router `a` on free ports that is ready; it has ended afterwards. `keys` are lines of the topology,
    `files` is how many it may open, `admin` is where its administration listens."""
    file = folder / "one.yaml"
    file.write_text(f'{keys}\nrouters: {{a: {{clients: "127.0.0.1:0", admin: "{admin}"}}}}\n')
    with started(file, "a", files) as router:
        yield router


@contextlib.contextmanager
def running_line(
    folder: Path, names: str, more: str = "", over_tcp: bool = False, files: int | None = None
) -> Iterator[list[Running]]:
    """Routers with one-letter names, each linked to the one before; they are ready, and perhaps not linked yet.
    `more` are further lines of the topology, `files` is how many each may open."""
    ways = {name: f"127.0.0.1:{free_port()}" if over_tcp else f"unix:{name}.links" for name in names}
    file = folder / "line.yaml"
    routers = [
        f'{name}: {{clients: "unix:{name}.clients", neighbours: "{ways[name]}", admin: "unix:{name}.admin"}}'
        for name in names
    ]
    links = [f"[{one}, {other}]" for one, other in itertools.pairwise(names)]
    file.write_text(f"{more}\nrouters: {{{', '.join(routers)}}}\nlinks: [{', '.join(links)}]\n")
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(started(file, name, files)) for name in names]


@contextlib.contextmanager
def started(file: Path, name: str, files: int | None = None) -> Iterator[Running]:
    """A router of a topology file, ready; EndedBadly if it does not end with 0 afterwards."""
    prefix = () if files is None else ("prlimit", f"--nofile={files}")
    with blocking.started(file, name, prefix=prefix) as router:
        yield Running(str(file), router.said["clients"][0], router.said["admin"][0], router.pid)
