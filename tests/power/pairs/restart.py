"""Routers that start in a moment: each is forked from a process that has imported them.

Law: a router that is started here is a process of its own, and has ended when `running_pair` does.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_NURSERY: Final = multiprocessing.get_context("forkserver")
_NURSERY.set_forkserver_preload(
    ["tamis.router.daemon.daemon", "tamis.router.durable.service", "tamis.router.links.joined", "uvloop"]
)


def _serve(file: str, name: str, log: str) -> None:
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    from tamis.router.daemon.daemon import DaemonOptions, serve

    serve(DaemonOptions(file, name, json_logs=True))


@contextlib.contextmanager
def running_pair(folder: Path, names: tuple[str, str], keys: dict[str, object]) -> Iterator[dict[str, str]]:
    """Start two linked routers whose folders are below `folder`; yield where they listen for clients, perhaps before
    they do."""
    file = folder / "pair.json"
    routers = {
        name: {
            "clients": f"unix:{folder / name}.sock",
            "neighbours": f"unix:{folder / name}.links",
            "data": str(folder / name),
        }
        for name in names
    }
    file.write_text(json.dumps({"durable": keys, "routers": routers, "links": [list(names)]}))
    started = [
        _NURSERY.Process(target=_serve, args=(str(file), name, str(folder / f"{name}.log")), daemon=True)
        for name in names
    ]
    try:
        for each in started:
            each.start()
        yield {name: f"tamis+unix:{folder / name}.sock" for name in names}
    finally:
        for each in started:
            if each.pid is not None:
                each.kill()
                each.join()
