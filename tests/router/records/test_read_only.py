"""A disk that takes no records: the router serves, and status, /readyz and metrics say so until it takes them again."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.blocking import connect
from tamis.cli.reach.admin_http import asked
from tamis.testing import blocking, free_port

pytestmark = pytest.mark.slow
PATIENCE_S = 20.0


def mounted(*words: str) -> None:
    """Mount or unmount; skip where that is not possible."""
    ran = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    if ran.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {ran.stderr.strip()}")


def refuse_writes(disk: Path) -> None:
    """Mount a disk over itself, read-only: files that are open stay writable, and the next one cannot be made."""
    mounted("mount", "--bind", str(disk), str(disk))
    mounted("mount", "-o", "remount,bind,ro", str(disk))


def until(what: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end_s
        time.sleep(0.1)


def test_a_read_only_disk_is_told_and_its_end_too(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may mount a disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk))
    try:
        file = tmp_path / "one.yaml"
        ports = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
        file.write_text(
            f"records: {{folder: {disk}/records, messages: all, rotate: {{seconds: 1}}}}\nrouters: {{a: {{{ports}}}}}\n"
        )
        with blocking.started(file, "a") as one:

            def page(path: str) -> str:
                code, body = asked(one.admin, "GET", path, None)
                assert code == 200, "it is ready all the same"
                return body.decode()

            def problems() -> dict[str, str]:
                """Return those of the router after a message more, which is something to be recorded."""
                with connect(one.address) as client:
                    client.publish({"x": 1}, confirm=True)
                found: dict[str, str] = json.loads(page("/readyz"))["problems"]
                return found

            assert problems() == {}
            until(lambda: any((disk / "records").rglob("messages-*")))
            refuse_writes(disk)
            until(lambda: "records" in problems())
            status = json.loads(page("/status"))
            assert "Read-only file system" in status["problems"]["records"]
            assert (status["ready"], status["unready"]) == (True, [])
            assert status["records"]["lost"] > 0
            assert "\ntamis_records_failing 1\n" in page("/metrics")
            assert one.log.read_text().count("records cannot be written") == 1
            mounted("umount", str(disk))
            until(lambda: not problems())
            assert "\ntamis_records_failing 0\n" in page("/metrics")
            assert "records are written again" in one.log.read_text()
    finally:
        subprocess.run(["umount", "-A", str(disk)], check=True)  # noqa: S603, S607 - our own command
