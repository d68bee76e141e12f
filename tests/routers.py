"""Routers as processes of their own, for tests of what talks to them."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Running:
    """`file` is its topology file; `client` and `admin` are where it listens, as commands take them."""

    file: str
    client: str
    admin: str


@contextlib.contextmanager
def running(folder: Path, keys: str = "") -> Iterator[Running]:
    """A router `a` on free ports that is ready; it has ended afterwards. `keys` are lines of the topology."""
    file = folder / "one.yaml"
    file.write_text(f'{keys}\nrouters: {{a: {{clients: "127.0.0.1:0", admin: "unix:admin.sock"}}}}\n')
    command = [sys.executable, "-m", "tamis.cli.main", "router", "--topology", str(file), "--id", "a", "--json-logs"]
    with (
        (folder / "router.log").open("wb") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as process,  # noqa: S603 - our own command
    ):
        assert process.stdout
        try:
            line = process.stdout.readline()
            assert line, (folder / "router.log").read_text()
            ready = json.loads(line)
            yield Running(str(file), ready["clients"][0], ready["admin"][0])
        finally:
            process.terminate()
            assert process.wait(15) == 0
