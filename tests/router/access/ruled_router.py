"""A router of a process of its own whose rules stand in a file that tests change."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from tamis.blocking import Client, connect
from tamis.testing import blocking
from tamis.testing.blocking import BlockingRouter
from tests.router.access.rules import token_of

PATIENCE_S = 20.0
WITH_LOG = "durable: {bytes: 268435456, segment_bytes: 1048576}"


class RuledRouter:
    def __init__(self, rules: Path, one: BlockingRouter) -> None:
        self.rules, self.one = rules, one

    @classmethod
    @contextlib.contextmanager
    def started(cls, folder: Path, rules: str, addresses: str, keys: str = WITH_LOG) -> Iterator[Self]:
        """Start router `a` with these rules, addresses and keys of the file; stop it at the end."""
        path, file = folder / "rules.yaml", folder / "one.yaml"
        path.touch(0o600)
        path.write_text(rules)
        file.write_text(f"access: rules.yaml\n{keys}\nrouters: {{a: {{{addresses}, data: data}}}}\n")
        with blocking.started(file, "a") as one:
            yield cls(path, one)

    @contextlib.contextmanager
    def client(self, name: str, patience_s: float = PATIENCE_S) -> Iterator[Client]:
        """Connect under a name with the token of its principal."""
        token = token_of(name.partition("/")[0]).decode()
        with connect(self.one.address, name=name, token=token, patience_s=patience_s) as each:
            yield each

    def change(self, rules: str) -> None:
        """Put these rules in force."""
        self.rules.write_text(rules)
        log = Path(self.one.log)
        before = log.read_text().count("settings reloaded")
        os.kill(self.one.pid, signal.SIGHUP)
        end_s = time.monotonic() + PATIENCE_S
        while log.read_text().count("settings reloaded") == before:
            assert time.monotonic() < end_s
            time.sleep(0.01)
