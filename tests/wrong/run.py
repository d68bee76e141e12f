"""Run cases, each in a process of its own and a folder of its own, beside a router that runs.

Law: a case cannot harm the next one. What it starts ends with it, and one that gives no answer is ended after a while.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tests.routers import running
from tests.wrong.case import ADMIN, CLOSED, ROUTER, Answer, Case

PATIENCE_S: Final = 20.0
_KEYS: Final = """\
data: data
spaces:
  trades:
    attributes:
      symbol: string
      price: {fixed: [0, 1000], digits: 2}
"""
_PRELOADED: Final = ("tests.wrong.preloaded",)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the router of all cases listens, and a port where nothing does."""

    router: str
    admin: str
    closed: str

    def told(self, word: str) -> str:
        plain = self.router.replace("tamis://", "http://")
        known = {"@plain-router": plain, ROUTER: self.router, ADMIN: self.admin, CLOSED: self.closed}
        for mark, value in known.items():
            word = word.replace(mark, value)
        return word


@contextlib.contextmanager
def place() -> Iterator[Place]:
    """Start the router, and find a port where nothing listens."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), _KEYS, admin="127.0.0.1:0") as router:
        with socket.socket() as bound:  # bound and not listening: whoever connects is refused
            bound.bind(("127.0.0.1", 0))
            yield Place(router.client, router.admin.removeprefix("http://"), str(bound.getsockname()[1]))


def at_place(case: Case, at: Place) -> Case:
    """Return `case` with addresses in place of their marks."""
    return replace(case, words=tuple(map(at.told, case.words)), where=tuple(map(at.told, case.where)))


def answer(case: Case, router: str) -> Answer:
    """Return what `case` gets; calls are those of a client of `router`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "files", case)
        (folder / "stdin").write_bytes(case.stdin)
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([*_PRELOADED])
        child = context.Process(target=_child, args=(name, case.words, case.is_call, router))
        child.start()
        child.join(PATIENCE_S)
        is_late = child.is_alive()
        if is_late:
            os.killpg(child.pid or 0, signal.SIGKILL)
            child.join()
        code = None if is_late else child.exitcode
        out, err = ((folder / stream).read_text(errors="replace") for stream in ("out", "err"))
        return Answer(code, out.replace(name, ""), err.replace(name, ""))


def _write(folder: Path, case: Case) -> None:
    folder.mkdir()
    for file, data in case.files.items():
        if data is None:
            (folder / file).mkdir()
        else:
            (folder / file).write_bytes(data)
    for file, mode in {"token": 0o600, **case.modes}.items():
        if (folder / file).is_file():
            (folder / file).chmod(mode)


def _child(folder: str, words: tuple[str, ...], is_call: bool, router: str) -> None:
    """Run a case, its streams in files of `folder`; the exit code of this process is the answer's."""
    os.setsid()
    for number, name in enumerate(("stdin", "out", "err")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT
        os.dup2(os.open(f"{folder}/{name}", flags, 0o600), number)
    os.chdir(f"{folder}/files")
    os.environ |= {"XDG_CONFIG_HOME": f"{folder}/config", "XDG_STATE_HOME": f"{folder}/state", "HOME": folder}
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - descriptors
    code = _call(words[0], router) if is_call else _command(words)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _command(words: tuple[str, ...]) -> int:
    from tamis.cli.main import main

    return main(words)


def _call(text: str, router: str) -> int:
    import tamis
    import tamis.blocking

    with tamis.blocking.connect(router) as client:
        try:
            exec(text, {"tamis": tamis.blocking, "client": client})  # noqa: S102 - our own text
        except Exception as error:
            is_ours = isinstance(error, tamis.TamisError | TypeError)
            sys.stderr.write(f"{'' if is_ours else 'Traceback '}{type(error).__name__}: {error}\n")
            return 1
    return 0
