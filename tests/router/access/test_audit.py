"""The audit log: a chain that shows each change, bounds, and what real clients leave in it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import stat
import threading
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.router.access import audit
from tamis.router.access.audit import AuditLog
from tamis.serving.cannot_start import CannotStart
from tests.router.access.rules import token_of, written
from tests.router.wire_client import WireClient, subscribe, subscription


class Seconds:
    """An audit log whose seconds pass when the test says so. `alarms`: what it said."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.alarms = folder, []
        self.log = AuditLog(str(folder), self.alarms.append, lambda: 1_800_000_000.1234)

    async def passes(self) -> None:
        self.log.second_passed()
        if self.log._writing is not None:
            await asyncio.wait([asyncio.wrap_future(self.log._writing[0])])


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for path in sorted(folder.iterdir()) for line in path.read_text().splitlines()]


def verify(folder: Path, capsys) -> tuple[int, str]:
    """Exit code and text of the command; its verdict is that of a plain loop over the lines."""
    code = main(["audit", "verify", str(folder)])
    out, err = capsys.readouterr()
    before, number, sound = hashlib.blake2b(b"", digest_size=16).hexdigest(), 0, True
    data = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    for line in data.splitlines(keepends=True):
        try:
            form = json.loads(line)
            ok = line.endswith(b"\n") and form["before"] == before and form["n"] == number + 1
        except (ValueError, KeyError, TypeError):
            ok = False
        sound &= ok
        before, number = hashlib.blake2b(line[:-1], digest_size=16).hexdigest(), number + 1
    assert (code == 0) is sound, (out, err)
    return code, out + err


async def test_lines_are_one_chain_also_after_a_restart(tmp_path, capsys) -> None:
    for start in range(3):
        it = Seconds(tmp_path / "audit")
        for number in range(5):
            it.log.note("refused", verb="publish", name=f"ann {number} é", role="", constraint=None)
            await it.passes()
        it.log.note("last", start=start)
        it.log.close()
    found = lines(tmp_path / "audit")
    assert [line["n"] for line in found] == list(range(1, 19))
    assert {name: found[0][name] for name in ("at", "kind", "verb", "name")} == {
        "at": 1_800_000_000.123,
        "kind": "refused",
        "verb": "publish",
        "name": "ann 0 é",
    }
    assert "role" not in found[0], "empty fields are left out"
    assert verify(tmp_path / "audit", capsys)[1].startswith("18 lines in 1 file are one chain, which ends with ")
    [path] = (tmp_path / "audit").iterdir()
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)] == [0o600, 0o700]


async def test_each_change_of_a_line_is_found(tmp_path, capsys) -> None:
    it = Seconds(tmp_path)
    for number in range(30):
        it.log.note(f"kind {number}", name="ann")
    it.log.close()
    [path] = tmp_path.iterdir()
    whole, chance = path.read_bytes(), random.Random(2)
    assert verify(tmp_path, capsys)[0] == 0
    rows = whole.splitlines(keepends=True)
    for changed in (
        rows[1:2] + rows[:1] + rows[2:],
        rows[:7] + rows[8:],
        rows[:4] + rows[3:],
        [*rows[:-1], rows[-1][:-1]],
    ):
        path.write_bytes(b"".join(changed))
        code, said = verify(tmp_path, capsys)
        assert code == 1
        assert said.startswith(f"{path}:")
    for _ in range(60):
        at = chance.randrange(len(whole) - len(rows[-1]))  # nothing follows the last line
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(7))]) + whole[at + 1 :])
        assert verify(tmp_path, capsys)[0] == 1, at


async def test_of_one_kind_so_many_lines_a_second_are_written_and_the_rest_counted(tmp_path) -> None:
    it = Seconds(tmp_path)
    for _ in range(1_000):
        it.log.note("refused")
    it.log.note("admitted")
    await it.passes()
    kinds = [line["kind"] for line in lines(tmp_path)]
    assert (kinds.count("refused"), kinds.count("admitted")) == (audit.LINES_PER_S, 1)
    assert lines(tmp_path)[-1] | {"before": ""} == {
        "n": 22,
        "before": "",
        "at": 1_800_000_000.123,
        "kind": "suppressed",
        "of": "refused",
        "lines": 980,
    }
    it.log.note("refused")
    await it.passes()
    assert len(lines(tmp_path)) == 23
    it.log.close()


async def test_files_are_bounded_and_what_is_left_verifies(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(audit, "FILE_BYTES_MAX", 1_000)
    monkeypatch.setattr(audit, "BYTES_MAX", 4_000)
    it = Seconds(tmp_path)
    for number in range(100):
        it.log.note("refused", name=f"ann {number}")
        await it.passes()
    it.log.close()
    files = sorted(tmp_path.iterdir())
    assert len(files) <= 4
    assert sum(path.stat().st_size for path in files) <= 4_000
    assert lines(tmp_path)[-1]["n"] == 100
    assert main(["audit", "verify", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["lines"] + said["removed_before"] == 100
    files[1].unlink()
    assert main(["audit", "verify", str(tmp_path)]) == 1
    assert "lines are missing" in capsys.readouterr().err


async def test_a_line_that_a_crash_has_cut_is_removed_and_told(tmp_path, capsys) -> None:
    it = Seconds(tmp_path)
    it.log.note("one")
    it.log.note("two")
    it.log.close()
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    assert verify(tmp_path, capsys)[0] == 1
    it = Seconds(tmp_path)
    it.log.close()
    assert [line["kind"] for line in lines(tmp_path)] == ["one", "torn"]
    assert verify(tmp_path, capsys)[0] == 0


async def test_a_disk_that_takes_nothing_costs_lines_and_an_alarm(tmp_path, monkeypatch, capsys) -> None:
    it = Seconds(tmp_path)
    real = audit._write_all

    def full(file, data):
        real(file, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(audit, "_write_all", full)
    monkeypatch.setattr(audit, "PENDING_MAX", 5)
    for second in range(3):
        for number in range(4):
            it.log.note(f"kind {second} {number}")
        await it.passes()
    assert it.alarms == ["the audit log cannot be written: [Errno 28] No space left on device"]
    monkeypatch.setattr(audit, "_write_all", real)
    await it.passes()
    assert [line["kind"] for line in lines(tmp_path)][:4] == ["kind 0 0", "kind 0 1", "kind 0 2", "kind 0 3"]
    assert verify(tmp_path, capsys)[0] == 0
    it.log.close()


@pytest.mark.parametrize("taken", [True, False])
def test_a_slow_disk_costs_no_line_at_the_end(tmp_path, monkeypatch, capsys, taken: bool) -> None:
    it = Seconds(tmp_path)
    real, free = audit._write_all, threading.Event()

    def slow(file, data):
        free.wait()
        monkeypatch.setattr(audit, "_write_all", real)
        if not taken:
            raise OSError(5, "Input/output error")
        real(file, data)

    monkeypatch.setattr(audit, "_write_all", slow)
    it.log.note("one")
    it.log.second_passed()
    it.log.note("two")
    it.log.second_passed()
    threading.Timer(0.1, free.set).start()
    it.log.close()
    assert [line["kind"] for line in lines(tmp_path)] == ["one", "two"]
    assert verify(tmp_path, capsys)[0] == 0
    assert len(it.alarms) == (not taken)


def test_a_folder_that_cannot_be_used_stops_the_start(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match="audit log in"):
        AuditLog(str(tmp_path / "file"), print)
    (tmp_path / "audit-000000000001.jsonl").write_text("no line\n")
    with pytest.raises(CannotStart, match="audit log in"):
        AuditLog(str(tmp_path), print)


async def test_a_router_writes_who_came_what_was_refused_and_which_rules_decide(process, tmp_path, capsys) -> None:
    file = tmp_path / "rules.yaml"
    file.touch(0o600)
    roles = {"sensor": {"publish": "kind = 1"}, "board": {"subscribe": "kind = 1", "groups": "dash"}}
    file.write_text(written(roles, {"one": "sensor", "two": "board"}))
    topology = {"routers": {"a": {"clients": "127.0.0.1:0"}}, "access": "rules.yaml", "data": "data"}
    router = process(json.dumps(topology))
    assert router.ready, router.errors
    two = await WireClient.greeted(router.where, "two", token_of("two"))
    await two.send(subscribe(1, subscription(1, 'kind = 2 and secret = "payload"')))
    await two.next()
    with pytest.raises(AssertionError):
        await WireClient.greeted(router.where, "one", b"wrong")
    await two.close()
    router.signal(15)
    assert await router.exit_code() == 0
    folder = tmp_path / "data" / "a" / "audit"
    assert verify(folder, capsys)[0] == 0
    found = lines(folder)
    assert [line["kind"] for line in found] == ["rules", "admitted", "refused", "not admitted"]
    about = [{name: line[name] for name in line if name not in ("n", "at", "before", "peer")} for line in found]
    assert len(about[0].pop("digest")) == 16
    assert about[0] == {"kind": "rules", "mode": "enforce"}
    assert about[1] == {"kind": "admitted", "principal": "two", "roles": ["board"], "name": "two", "method": "token"}
    assert about[2] == {
        "kind": "refused",
        "principal": "two",
        "name": "two",
        "verb": "subscribe",
        "role": "board",
        "enforced": True,
    }
    assert about[3] == {"kind": "not admitted", "why": "credential", "name": "one", "method": "token"}
    assert "payload" not in json.dumps(found)
