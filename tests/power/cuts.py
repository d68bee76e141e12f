"""One recorded run, and cuts of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from tests.power.device import Cutter, read_record, recording, repair, run
from tests.power.judge import judge, read_notes

LIVES: Final = 3
LIFE_S: Final = (0.15, 0.9)
IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of a random name is made in it
UNSYNCED: Final = "int fdatasync(int file) { (void)file; return 0; }\n"


@dataclass(slots=True)
class Found:
    """What cuts of one run brought to light."""

    cuts: int = 0
    repaired: int = 0
    """file systems that were mounted after e2fsck alone"""
    unmountable: int = 0
    """file systems that ext4 itself could not save: there was nothing to open"""
    records: int = 0
    entries: int = 0
    wrong: list[str] = field(default_factory=list)


def without_sync(folder: Path) -> dict[str, str]:
    """An environment in which fdatasync does nothing."""
    source, library = folder / "unsynced.c", folder / "unsynced.so"
    source.write_text(UNSYNCED)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)  # noqa: S603, S607 - the C compiler
    return {**os.environ, "LD_PRELOAD": str(library)}


def live(folder: Path, mount: Path, record: Path, seed: int, environment: dict[str, str] | None) -> None:
    """Writers one after another, each killed at some moment."""
    dice = Random(seed)
    for life in range(LIVES):
        arguments = [mount / "log", folder / "notes", record, str(seed * 10 + life)]
        command = [sys.executable, "-m", "tests.power.writer", *arguments]
        before = (folder / "notes").stat().st_size
        with subprocess.Popen(command, env=environment) as writer:  # noqa: S603 - our own program
            try:
                while writer.poll() is None and (folder / "notes").stat().st_size == before:
                    time.sleep(0.01)
                time.sleep(dice.uniform(*LIFE_S))
            finally:
                writer.send_signal(signal.SIGKILL)
        if writer.returncode not in {0, -signal.SIGKILL}:
            message = f"the writer of seed {seed}, life {life}, ended with {writer.returncode}"
            raise RuntimeError(message)


def mount_after_cut(image: Path, at: Path, found: Found) -> bool:
    """Mount what a cut has left, after e2fsck where it must be: a tear in a block of ext4 can be past its mending."""
    for is_repaired in (False, True):
        try:
            run("mount", "-o", "loop", image, at)
        except OSError:
            repair(image)
        else:
            found.repaired += is_repaired
            return True
    found.unmountable += 1
    return False


def cut_run(seed: int, cuts: int, *, has_sync: bool = True, scratch: Path | None = None) -> Found:
    """Record a run below `scratch` (or in memory, where there is a place), and judge what `cuts` cuts of it leave.

    In memory a flush of the recorded device is quick, so a life of a writer commits thirty times as much.
    """
    found, dice = Found(), Random(seed)
    scratch = scratch if scratch is not None or not IN_MEMORY.is_dir() else IN_MEMORY
    with tempfile.TemporaryDirectory(prefix="tamis-power-", dir=scratch) as name:
        folder = Path(name)
        (folder / "notes").touch()
        with recording(folder) as (mount, record):
            live(folder, mount, record, seed, None if has_sync else without_sync(folder))
        notes, entries = read_notes(folder / "notes"), read_record(folder / "log")
        found.records, found.entries = len(notes.records), len(entries)
        first = notes.committed[0][1] if notes.committed else 0
        cutter, after = Cutter(entries, folder), folder / "after"
        after.mkdir()
        for at in sorted(dice.randrange(first, len(entries)) for _ in range(cuts)):
            image, synced = cutter.cut(at, dice)
            found.cuts += 1
            if not mount_after_cut(image, after, found):
                continue
            try:
                wrong = judge(after / "log", notes, synced, seed)
            finally:
                run("umount", after)
            found.wrong += [f"seed {seed}, cut at entry {at} ({synced} synced): {what}" for what in wrong]
    return found
