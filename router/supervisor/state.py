"""The files of a supervisor.

    ~/.local/state/tamis/NAME-DIGEST/     one folder for each topology file, by its whole path
        state.json                        the processes, replaced as a whole at every change
        lock                              held while a supervisor runs
        control.sock                      for requests about single routers (control.py)
        logs/ROUTER.log                   the output of a router; two files of LOG_BYTES_MAX at most

Law: a reader of state.json always reads a complete one. A second supervisor of a file is refused.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import signal
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tamis.protocol.errors import TamisError
from tamis.router.supervisor.identity import ProcessIdentity, is_running
from tamis.router.supervisor.life import ProcessState
from tamis.router.supervisor.log_file import LogFile


class SupervisorError(TamisError):
    """Raised when a request cannot be fulfilled; the sentence states the reason."""


@dataclass(slots=True)
class RouterState:
    """One router as its supervisor sees it. `clients` and `admin` are the addresses at which it reports to listen;
    `since_s` is the Unix time at which `state` began."""

    state: ProcessState = ProcessState.STARTING
    since_s: float = 0.0
    pid: int | None = None
    started: str = ""
    restarts: int = 0
    pause_s: float | None = None
    exit_code: int | None = None
    last_words: str = ""
    clients: list[str] = field(default_factory=list)
    admin: list[str] = field(default_factory=list)

    @property
    def identity(self) -> ProcessIdentity | None:
        return None if self.pid is None else ProcessIdentity(self.pid, self.started)

    def form(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def is_clean_end(self) -> bool:
        """Return whether the router was stopped on request, and cleanly. A router that was just starting is ended by
        SIGTERM itself."""
        return self.state is ProcessState.STOPPED and self.exit_code in (None, 0, -signal.SIGTERM)


@dataclass(slots=True)
class NetworkState:
    """All routers of one supervisor; `stop_s` is the longest time that any of them may take to stop."""

    file: str
    supervisor: ProcessIdentity
    stop_s: float
    routers: dict[str, RouterState]

    @property
    def is_up(self) -> bool:
        return is_running(self.supervisor)

    def form(self) -> dict[str, Any]:
        routers = {router_id: state.form() for router_id, state in self.routers.items()}
        return {
            "file": self.file,
            "supervisor": asdict(self.supervisor),
            "stop_s": self.stop_s,
            "routers": routers,
        }

    @classmethod
    def of(cls, form: dict[str, Any]) -> NetworkState:
        routers = {
            router_id: RouterState(**state | {"state": ProcessState(state["state"])})
            for router_id, state in form["routers"].items()
        }
        return cls(form["file"], ProcessIdentity(**form["supervisor"]), form["stop_s"], routers)


def state_home() -> Path:
    """Return the folder that contains all state of this user's routers."""
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "tamis"


class StateFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = -1

    @classmethod
    def of(cls, topology: str | Path) -> StateFolder:
        """Return the folder of a topology file; it need not exist."""
        whole = Path(topology).resolve()
        digest = hashlib.sha256(os.fsencode(whole)).hexdigest()[:8]
        return cls(state_home() / f"{whole.stem}-{digest}")

    @classmethod
    def all(cls) -> list[StateFolder]:
        """Return the existing folders of all topology files."""
        return [cls(found.parent) for found in sorted(state_home().glob("*/state.json"))]

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    def claim(self) -> None:
        """Lock the folder as its only supervisor; SupervisorError if there is one already."""
        self.logs.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise SupervisorError("its routers run already; stop them with `tamis down`") from None

    def release(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def write(self, state: NetworkState) -> None:
        new = self.path / "state.json.new"
        new.write_text(json.dumps(state.form(), indent=1))
        new.replace(self.path / "state.json")

    def read(self) -> NetworkState | None:
        """Return the last written state; None if no router was started."""
        try:
            return NetworkState.of(json.loads((self.path / "state.json").read_text()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise SupervisorError(f"{self.path / 'state.json'} cannot be read: {error!r}") from None

    def forget(self) -> None:
        (self.path / "state.json").unlink(missing_ok=True)

    def log(self, router_id: str) -> LogFile:
        return LogFile(self.logs / f"{router_id}.log")
