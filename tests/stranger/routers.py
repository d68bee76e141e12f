"""The routers under test: processes, started from a topology file by the command a person would type.

    with Network(folder, "abc", ["ab", "bc"]) as net:
        net["a"].clients                        host and port, as Stranger takes them
        net["b"].kill(); net["b"].start()

Law: what is started here has ended afterwards. Ports stay those of a router over its lives, and lie below those that
the system gives to whoever connects. All other tests start routers by `tamis.testing`; the stranger has a starter of
its own, because it imports nothing of the project and types the command that a person types.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

READY_S = 60.0
STOP_S = 20.0
ASK_S = 20.0
HOST = "127.0.0.1"
TAMIS = str(Path(sys.executable).with_name("tamis"))
_PORTS = itertools.count(12_000 + os.getpid() * 131 % 19_000)


def free_port() -> int:
    for port in _PORTS:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind((HOST, port))
                return port
    raise AssertionError


def until(is_so: Callable[[], Any], patience_s: float = 20.0, pause_s: float = 0.02) -> float:
    """Seconds that it took."""
    began_s = time.monotonic()
    while not is_so():
        assert time.monotonic() < began_s + patience_s, f"not so after {patience_s} s"
        time.sleep(pause_s)
    return time.monotonic() - began_s


class Router:
    def __init__(self, file: Path, name: str) -> None:
        self.file, self.name = file, name
        self.log_file = file.parent / f"{name}.log"
        self.clients = (HOST, free_port())
        self.neighbours = (HOST, free_port())
        self.admin = (HOST, free_port())
        self.process: subprocess.Popen[bytes] | None = None
        self.before: tuple[str, ...] = ()
        """Words in front of the command, such as those of faketime."""
        self.environment: Mapping[str, str] = {}

    @property
    def addresses(self) -> dict[str, str]:
        """What the topology says of it."""
        ways = (("clients", self.clients), ("neighbours", self.neighbours), ("admin", self.admin))
        return {key: f"{host}:{port}" for key, (host, port) in ways} | {"data": f"{self.name}.data"}

    @property
    def epoch_file(self) -> Path:
        return self.file.parent / f"{self.name}.data" / "epoch"

    # --- life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Ready when this returns."""
        command = [TAMIS, "router", "--topology", str(self.file), "--id", self.name, "--json-logs"]
        guard = shutil.which("setpriv")
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own command
                [*((guard, "--pdeathsig", "KILL") if guard else ()), *self.before, *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=os.environ | dict(self.environment),
                start_new_session=True,
            )
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"{self.name} did not start: {self.log[-2_000:]}"

    def send_signal(self, number: int) -> None:
        assert self.process
        self.process.send_signal(number)

    def reload(self) -> dict[str, Any]:
        """Have it read its settings again; return what it says of that."""
        assert self.process
        assert self.process.stdout
        self.send_signal(signal.SIGHUP)
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        return said

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
        self._ended()

    def terminate(self) -> int:
        """Its exit code."""
        self.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        assert self.process
        assert self.process.stdout
        try:
            return self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process.stdout.close()
            self.process = None

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    # --- what it says of itself --------------------------------------------------------------------------------------

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        """Status and body of a page of its administration."""
        connection = http.client.HTTPConnection(*self.admin, timeout=ASK_S)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def page(self, path: str, **headers: str) -> Any:
        status, body = self.ask(path, **headers)
        assert status == 200, (path, status, body[:500])
        return json.loads(body)

    def metrics(self, **headers: str) -> dict[str, float]:
        """Each series by its name with its labels."""
        status, body = self.ask("/metrics", **headers)
        assert status == 200, status
        lines = (line.rpartition(" ") for line in body.decode().splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in lines}

    def metric(self, name: str) -> float:
        """The sum of all series of `name`."""
        found = self.metrics()
        return sum(value for series, value in found.items() if series.partition("{")[0] == name)

    @property
    def cpu_s(self) -> float:
        return self.metric("process_cpu_seconds_total")

    @property
    def longest_hold_s(self) -> float:
        """Of its loop, by the CPU time of its thread, since it started."""
        return self.metric("tamis_loop_stall_max_seconds")

    @property
    def is_ready(self) -> bool:
        return self.ask("/readyz")[0] == 200

    @property
    def links_up(self) -> set[str]:
        return {link["neighbour"] for link in self.page("/status")["network"]["links"] if link["state"] == "up"}

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    @property
    def tracebacks(self) -> int:
        return len(re.findall(r"Traceback \(most recent", self.log))

    @property
    def first_traceback(self) -> str:
        """The lines around it."""
        at = self.log.find("Traceback (most recent")
        return self.log[max(0, at - 500) : at + 3_000] if at >= 0 else ""


class Network:
    """Routers with one-letter names, linked as `links` says: "ab" links a and b. `elsewhere`: routers of the topology
    that are not started, because the stranger plays them; they dial. `keys`: lines of the topology, `of`: keys of a
    router."""

    def __init__(
        self,
        folder: Path,
        names: str,
        links: Iterable[str] = (),
        *,
        elsewhere: str = "",
        keys: str = "",
        of: Mapping[str, Mapping[str, object]] | None = None,
    ) -> None:
        self.folder = folder
        self.file = folder / "network.yaml"
        self.routers = {name: Router(self.file, name) for name in names}
        said: dict[str, dict[str, object]] = {
            name: {**router.addresses, **(of or {}).get(name, {})} for name, router in self.routers.items()
        }
        for name in elsewhere:
            said[name] = {"clients": f"{HOST}:{free_port()}", "data": f"{name}.data"}
        ends = ", ".join(each if "{" in each else f"[{each[0]}, {each[1]}]" for each in links)
        self.file.write_text(f"{keys}\nrouters: {json.dumps(said)}\nlinks: [{ends}]\n")

    def __getitem__(self, name: str) -> Router:
        return self.routers[name]

    def __enter__(self) -> Self:
        try:
            for router in self.routers.values():
                router.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Without asking: how routers leave is for tests that look at it."""
        for router in self.routers.values():
            if router.process is not None:
                with contextlib.suppress(ProcessLookupError):
                    router.send_signal(signal.SIGCONT)
                router.kill()

    def until_linked(self, names: Sequence[str] = "", patience_s: float = 20.0, **headers: str) -> float:
        """Until each of `names` (all of them) reaches every router that runs, and no link has anything left to say.
        `headers`: of the requests to administration."""
        count = len(self.routers)

        def is_linked() -> bool:
            pages = [self[name].page("/status", **headers)["network"] for name in names or self.routers]
            return all(page["routers"] >= count and page["quiet_s"] >= 0.2 for page in pages)

        return until(is_linked, patience_s)

    def until_ready(self, names: Sequence[str] = "", patience_s: float = 20.0) -> float:
        """Until /readyz of each of `names` (all of them) says so. A router that waits for neighbours which are not
        there is ready two seconds after its start, not as soon as it is linked."""
        return until(lambda: all(self[name].is_ready for name in names or self.routers), patience_s)
