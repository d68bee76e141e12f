from __future__ import annotations

from pathlib import Path

from tamis.analysis.files import log_files


def test_each_file_is_read_once_and_none_that_is_being_made(tmp_path: Path) -> None:
    for name in ("a/events-1-000000.jsonl", "a/events-1-000000.jsonl.gz", "a/events-1-000001.jsonl.gz.part"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for name in ("a/events-1-000001.jsonl", "b/events-2-000000.jsonl.gz", "b/messages-2-000000.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [str(path.relative_to(tmp_path)) for path in log_files(tmp_path, "events")]
    assert found == ["a/events-1-000000.jsonl.gz", "a/events-1-000001.jsonl", "b/events-2-000000.jsonl.gz"]
