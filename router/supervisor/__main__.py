"""The supervisor behind `tamis up --detach`.

    python -m tamis.router.supervisor FILE MACHINE INSECURE         MACHINE may be empty, INSECURE is 0 or 1

Law: the supervisor sends each state as a line of JSON to the process that started it, until every router is ready or
has failed; from then on it has no terminal and its own log file.
"""

from __future__ import annotations

import json
import os
import sys

from tamis.protocol.errors import TamisError
from tamis.router.supervisor.life import SETTLED
from tamis.router.supervisor.state import NetworkState, StateFolder
from tamis.router.supervisor.supervise import keep_up


class Announcement:
    def __init__(self, folder: StateFolder) -> None:
        self._folder = folder
        self._is_over = False

    def show(self, state: NetworkState) -> None:
        if self._is_over:
            return
        print(json.dumps(state.form()), flush=True)
        if all(router.state in SETTLED for router in state.routers.values()):
            self._is_over = True
            self._leave_terminal()

    def _leave_terminal(self) -> None:
        log = os.open(self._folder.path / "supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(log, stream.fileno())
        os.close(log)


def main(file: str, machine: str, insecure: str) -> int:
    try:
        show = Announcement(StateFolder.of(file)).show
        return 0 if keep_up(file, machine or None, insecure == "1", show) else 1
    except TamisError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
