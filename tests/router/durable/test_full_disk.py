"""A router whose disk is full starts, gives out what is kept, takes acknowledgements, and says so until there is room.

The disk is a small file system of the test's own, which root alone may mount.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tamis import PublishRefused
from tamis.cli.reach.admin_http import asked
from tamis.protocol.wire.codes import RefusalCode
from tamis.testing import NotReady, blocking, free_port
from tamis.testing.blocking import BlockingRouter
from tests.router.durable.test_damage import consumed
from tests.router.durable.test_kill import PATIENCE_S, client

pytestmark = pytest.mark.slow
MIB = 1 << 20
DISK_BYTES = 24 * MIB
DURABLE_KEYS = "durable: {bytes: 268435456, segment_bytes: 1048576}"
BODY = bytes(100_000)
IS_FULL = "the disk is full"
ALL = ["/readyz", "problems", "log", "/metrics"]


@pytest.fixture(name="disk", params=["tmpfs", "ext4"])
def _disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of DISK_BYTES."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    at, image = tmp_path / "disk", tmp_path / "image"
    at.mkdir()
    commands = [["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(at)]]
    if request.param == "ext4":
        with image.open("wb") as file:
            file.truncate(DISK_BYTES)
        commands = [["mkfs.ext4", "-q", str(image)], ["mount", "-o", "loop", str(image), str(at)]]
    for command in commands:
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed")
        ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
        if ran.returncode != 0:
            pytest.skip(f"no {request.param} can be mounted here: {ran.stderr.strip()}")
    yield at
    subprocess.run(["umount", str(at)], check=True)  # noqa: S603, S607 - our own command


@contextlib.contextmanager
def router(folder: Path, disk: Path) -> Iterator[BlockingRouter]:
    file = folder / "one.yaml"
    ports = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file.write_text(f"{DURABLE_KEYS}\nrouters: {{a: {{{ports}, data: {disk}/data}}}}\n")
    with blocking.started(file, "a") as one:
        yield one


def page(one: BlockingRouter, path: str) -> tuple[int, bytes]:
    return asked(one.admin, "GET", path, None)


def status(one: BlockingRouter) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page(one, "/status")[1])
    return found


def until(what: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end_s
        time.sleep(0.1)


def fill(one: BlockingRouter) -> int:
    """Publish until the log refuses; return how many messages are kept."""
    with client(one, "publisher") as publisher:
        for n in range(1_000):
            try:
                publisher.publish({"n": n}, BODY, confirm="stored")
            except PublishRefused as error:
                if error.code != RefusalCode.LOG_FULL:
                    raise
                return n
    raise AssertionError("the disk is never full")


def take_the_rest(disk: Path) -> Path:
    """Fill what is left of the disk, as another program would; return the file, without which there is room again."""
    file = disk / "of-others"
    with file.open("wb", buffering=0) as stream:
        for size in (65_536, 4_096, 512, 1):
            with contextlib.suppress(OSError):
                while stream.write(bytes(size)) == size:
                    pass
    return file


def who_says_that_it_is_full(one: BlockingRouter) -> list[str]:
    """Return which of /readyz, status and metrics say it; the router looks once a second."""
    code, ready = page(one, "/readyz")
    form = status(one)
    said = {
        "/readyz": IS_FULL in str(json.loads(ready)["problems"]),
        "problems": IS_FULL in str(form["problems"]),
        "log": form["durable"]["log"]["is_disk_full"],
        "/metrics": b"\ntamis_durables_disk_full 1\n" in page(one, "/metrics")[1],
    }
    assert code == 200, "consumers may come, and make room"
    return [name for name, is_said in said.items() if is_said]


def test_a_router_that_ended_on_a_full_disk_starts_again(tmp_path: Path, disk: Path) -> None:
    with router(tmp_path, disk) as one:
        with client(one, "operator") as operator:
            operator.durable("numbers", "n >= 0")
        count = fill(one)
        others = take_the_rest(disk)
        until(lambda: who_says_that_it_is_full(one) == ALL)
        for end in (one.kill, one.leave, one.kill):
            end()
            with others.open("ab", buffering=0) as stream, contextlib.suppress(OSError):
                while stream.write(bytes(512)):
                    pass
            one.start()
            assert who_says_that_it_is_full(one) == ALL, "from the start on"
            assert IS_FULL in one.log.read_text()
        with client(one, "publisher") as publisher, pytest.raises(PublishRefused) as refused:
            publisher.publish({"n": count}, BODY, confirm="stored")
        assert refused.value.code == RefusalCode.LOG_FULL
        assert consumed(one, "numbers").numbers == list(range(count)), "given out, and acknowledged on the disk"
        one.kill()
        one.start()
        assert consumed(one, "numbers").numbers == [], "acknowledgements were written"
        others.unlink()
        until(lambda: not who_says_that_it_is_full(one))
        said = one.log.read_text()
        assert said.count("accepts files again") == 1
        with client(one, "publisher") as publisher:
            publisher.publish({"n": 1}, BODY, confirm="stored")
        assert consumed(one, "numbers").numbers == [1]


def test_segments_that_are_done_with_are_room_on_a_full_disk(tmp_path: Path, disk: Path) -> None:
    with router(tmp_path, disk) as one:
        with client(one, "operator") as operator:
            operator.durable("numbers", "n >= 0")
        count = fill(one)
        take_the_rest(disk)
        assert consumed(one, "numbers").numbers == list(range(count))
        until(lambda: not status(one)["durable"]["log"]["is_full"])
        with client(one, "publisher") as publisher:
            for n in range(count // 2):
                publisher.publish({"n": n}, BODY, confirm="stored")


def test_a_router_that_has_nothing_on_a_full_disk_says_why_it_does_not_start(tmp_path: Path, disk: Path) -> None:
    take_the_rest(disk)
    with pytest.raises(NotReady, match=IS_FULL), router(tmp_path, disk):
        pass
