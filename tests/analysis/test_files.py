from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tamis.analysis.records.files import FEW_BYTES, TIMES, are_few, held, log_files


def test_each_file_is_read_once_and_none_that_is_being_made(tmp_path: Path) -> None:
    for name in ("a/events-1-000000.jsonl", "a/events-1-000000.jsonl.gz", "a/events-1-000001.jsonl.gz.part"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for name in ("a/events-1-000001.jsonl", "b/events-2-000000.jsonl.gz", "b/messages-2-000000.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [str(path.relative_to(tmp_path)) for path in log_files(tmp_path, "events")]
    assert found == ["a/events-1-000000.jsonl.gz", "a/events-1-000001.jsonl", "b/events-2-000000.jsonl.gz"]


@pytest.mark.parametrize(("name", "times"), [(f"messages-1-000000{ending}", times) for ending, times in TIMES.items()])
def test_logs_are_few_up_to_a_size_of_their_text(tmp_path: Path, name: str, times: int) -> None:
    assert are_few(tmp_path)
    with (tmp_path / name).open("wb") as file:
        file.truncate(FEW_BYTES // times)
    assert are_few(tmp_path)
    (tmp_path / "messages-2-000000.jsonl").write_text("x" * times)
    assert not are_few(tmp_path)


@pytest.mark.parametrize("can_link", [True, False])
def test_what_a_router_compresses_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_link: bool
) -> None:
    logs, before = tmp_path / "logs", os.link

    def link(path: Path, place: Path) -> None:
        if not can_link:
            raise OSError(errno.EXDEV, "another file system")
        before(path, place)

    monkeypatch.setattr(os, "link", link)
    logs.mkdir()
    plain, packed, late, gone = (logs / f"events-{number}-000000.jsonl" for number in range(4))
    packed = packed.with_name(f"{packed.name}.gz")
    for path in (plain, packed):
        path.write_text("as it was\n")
    late.with_name(f"{late.name}.gz").write_text("late\n")  # which was plain when the folder was listed
    found = list(held([plain, packed, late, gone], tmp_path / "held"))
    plain.unlink()
    assert [path.name for path in found] == [plain.name, packed.name, f"{late.name}.gz"]
    assert [path.read_text() for path in found] == ["as it was\n", "as it was\n", "late\n"]
    assert found[1:] == [packed, late.with_name(f"{late.name}.gz")]
