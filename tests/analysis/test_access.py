"""What access rules decided, by the audit logs: against loops over the lines, and as real routers wrote it.

Law: the oracle reads the lines with `json` and counts with dicts; it shares nothing with what it judges.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tamis.analysis.job import Job, analyze
from tamis.analysis.page import headlines, report
from tamis.analysis.page.remarks import remarks
from tamis.analysis.questions import access
from tamis.analysis.spark import parts
from tamis.blocking import connect
from tamis.client.errors import NotAdmitted, SubscriptionRefused
from tamis.testing import blocking, free_port
from tests.analysis.conftest import Tables
from tests.router.access.rules import token_of, written

START_S = 1_800_000_000
ROUTERS = ("rome", "oslo", "bern")
LINES = 400
PATIENCE_S = 20.0
Line = dict[str, Any]


# ---- random logs ----


def line(chance: Random, at: float) -> Line:
    """A line of some kind, without its place in the chain."""
    who = {"principal": chance.choice(["ann", "bob", "fleet"]), "name": chance.choice(["ann", "bob/1", "fleet/7 é"])}
    about = {"verb": chance.choice(["make", "remove"]), "about": chance.choice(["jobs", "orders"])}
    peer = {"peer": chance.choice(["10.0.0.7:5000", "10.0.0.7:5001", "fe80::1:443", "unix"]), "method": "token"}
    said: Line = chance.choice(
        [
            {"kind": "admitted", "roles": chance.choice([["a"], ["a", "b"]]), **who, **peer},
            {"kind": "not admitted", "why": chance.choice(["credential", "name"]), "name": who["name"], **peer},
            {"kind": "allowed", **who, **about},
            {"kind": "refused", "enforced": chance.random() < 0.8, "role": chance.choice(["a", "b"]), **who, **about},
            {"kind": "refused", "enforced": True, "constraint": 'kind = "reading"', **who, **about},
            {"kind": "rules", "digest": chance.choice("123") * 16, "mode": chance.choice(["enforce", "observe"])},
            {"kind": "suppressed", "of": "refused", "lines": chance.randrange(1, 50)},
            {"kind": "of a later version", "other": {"nested": [1]}},
        ]
    )
    return {"at": round(at, 3), **said}


def chained(lines: list[Line], number: int = 1, before: bytes = b"") -> list[bytes]:
    found = []
    for at, said in enumerate(lines, number):
        place = {"n": at, "before": hashlib.blake2b(before, digest_size=16).hexdigest()}
        before = json.dumps(place | said, ensure_ascii=False).encode()
        found.append(before + b"\n")
    return found


def made(folder: Path, chance: Random) -> dict[str, list[Line]]:
    """Write logs of several files each; return the lines of each router that count."""
    known = {}
    for router in ROUTERS:
        lines = [line(chance, START_S + at + chance.random()) for at in range(LINES)]
        texts = chained(lines)
        place = folder / "data" / router / "audit"
        place.mkdir(parents=True)
        cuts = [0, *sorted(chance.sample(range(1, LINES), 2)), LINES]
        if router == "oslo":  # its first file was removed
            cuts = cuts[1:]
            lines = lines[cuts[0] :]
        for first, end in pairwise(cuts):
            (place / f"audit-{first + 1:012}.jsonl").write_bytes(b"".join(texts[first:end]))
        known[router] = lines
    newest = max((folder / "data" / "rome" / "audit").iterdir())
    newest.write_bytes(newest.read_bytes() + b'{"n": 401, "before": "cut')
    return known


def damaged(folder: Path, known: dict[str, list[Line]]) -> int:
    """Change a line of bern and put one that is none between others; return the number of the first wrong line."""
    file = min((folder / "data" / "bern" / "audit").iterdir())
    texts = file.read_bytes().splitlines(keepends=True)
    place = len(texts) // 2
    changed = json.loads(texts[place]) | {"at": START_S + 0.5}
    texts[place] = json.dumps(changed, ensure_ascii=False).encode() + b"\n"
    nothing = b'{"n": 1, "before": "", "at": %d, "kind": "rules"}\n' % START_S  # of no rules
    known["bern"].append(json.loads(nothing))
    late = b'{"n": 1, "before": "", "at": 1e300, "kind": "admitted"}\n'
    many = b'{"n": 1, "before": "", "at": 1, "kind": "suppressed", "lines": %d}\n' % (2**63 - 1)
    file.write_bytes(b"".join([*texts, b'["no line"]\n', nothing, late, many]))
    known["bern"][place] = known["bern"][place] | {"at": START_S + 0.5}
    return place + 2


# ---- the oracle ----


def at_us(said: Line) -> int:
    return round(said["at"] * 1_000_000)


class Seen:
    """The lines of a group."""

    def __init__(self) -> None:
        self.times: list[int] = []
        self.who: set[str] = set()

    def add(self, said: Line, who: str | None) -> None:
        self.times.append(at_us(said))
        self.who |= {who} - {None}

    def row(self) -> tuple[int, int, int, int]:
        return len(self.times), len(self.who), min(self.times), max(self.times)


def outcome(said: Line) -> str:
    return "allowed" if said["kind"] == "allowed" else "refused" if said["enforced"] else "observed"


def groups(lines: list[Line]) -> dict[str, dict[tuple[Any, ...], tuple[int, int, int, int]]]:
    found: dict[str, dict[tuple[Any, ...], Seen]] = defaultdict(lambda: defaultdict(Seen))
    for said in lines:
        kind = said["kind"]
        if kind in ("refused", "allowed"):
            of = said["verb"], said.get("role")
            found["requests"][said["principal"], *of, said["about"], outcome(said)].add(said, None)
            if kind == "refused":
                found["constraints"][*of, said.get("constraint"), outcome(said)].add(said, said["principal"])
        elif kind == "not admitted":
            address = said["peer"].rpartition(":")[0] or said["peer"]
            found["not_admitted"][address, said["why"], said["method"]].add(said, said["name"])
        elif kind == "admitted":
            found["admitted"][said["principal"], repr(said["roles"]), said["method"]].add(said, said["name"])
    return {table: {place: seen.row() for place, seen in rows.items()} for table, rows in found.items()}


def same_at(loads: dict[str, list[Line]], moment_us: int) -> tuple[set[str], int]:
    """The digests that routers had loaded last at a moment, and how many routers had any."""
    last = {router: [each["digest"] for each in mine if at_us(each) <= moment_us] for router, mine in loads.items()}
    return {each[-1] for each in last.values() if each}, sum(map(bool, last.values()))


def compared(tables: Tables, known: dict[str, list[Line]]) -> None:
    every = [said for lines in known.values() for said in lines]
    who = {"requests": None, "constraints": "principals", "not_admitted": "names", "admitted": "names"}
    count = {"not_admitted": "attempts", "admitted": "admissions"}
    by = {
        "requests": ("principal", "verb", "role", "about", "outcome"),
        "constraints": ("verb", "role", "constraint", "outcome"),
        "not_admitted": ("address", "why", "method"),
        "admitted": ("principal", "roles", "method"),
    }
    for table, wanted in groups(every).items():
        rows = tables[f"access/{table}"]
        found = {
            tuple(repr(row[name]) if name == "roles" else row[name] for name in by[table]): (
                row[count.get(table, "requests")],
                row[who[table]] if who[table] else 0,
                row["first_us"],
                row["last_us"],
            )
            for row in rows
        }
        assert found == wanted, table
        assert len(rows) == len(wanted)
        most = [row[count.get(table, "requests")] for row in rows]
        assert most == sorted(most, reverse=True)
    kinds = Counter((router, said["kind"]) for router, lines in known.items() for said in lines)
    assert {(row["router"], row["kind"]): row["lines"] for row in tables["access/lines"]} == kinds
    unwritten = Counter[str]()
    for router, lines in known.items():
        unwritten[router] += sum(said["lines"] for said in lines if said["kind"] == "suppressed")
    assert {row["router"]: row["lines"] for row in tables["access/unwritten"]} == unwritten
    loads = {
        router: sorted((said for said in lines if said["kind"] == "rules" and "digest" in said), key=at_us)
        for router, lines in known.items()
    }
    compared_rules(tables, loads)


def compared_rules(tables: Tables, loads: dict[str, list[Line]]) -> None:
    modes = Counter((said["digest"], said["mode"]) for mine in loads.values() for said in mine)
    assert {(row["digest"], row["mode"]): row["loads"] for row in tables["access/rules"]} == modes
    spans = tables["access/in_force"]
    assert [span["to_us"] for span in spans] == [*(span["from_us"] for span in spans[1:]), None]
    for span in spans:
        end_us = span["to_us"] or max(at_us(each) for mine in loads.values() for each in mine) + 1
        moments = {span["from_us"], end_us - 1}
        moments |= {at_us(each) for mine in loads.values() for each in mine if span["from_us"] <= at_us(each) < end_us}
        states = [same_at(loads, moment) for moment in sorted(moments)]
        assert {len(digests) == 1 for digests, _ in states} == {span["is_same"]}
        assert set(span["digests"]) == set[str]().union(*(digests for digests, _ in states))
        assert span["routers"] == max(routers for _, routers in states)


# ---- tests ----


def answers(spark: SparkSession, folder: Path, out: Path, partitions: int) -> Tables:
    before = spark.conf.get(parts.SETTING)
    spark.conf.set(parts.SETTING, str(partitions))
    try:
        analyze(spark, folder, Job(out, ("access",), audits=(folder,)))
    finally:
        spark.conf.set(parts.SETTING, str(before))
    return report.read(out)


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 2])
def test_random_logs_are_summed_up_as_by_loops_over_their_lines(
    spark: SparkSession, tmp_path: Path, partitions: int
) -> None:
    known = made(tmp_path, Random(partitions))
    wrong = damaged(tmp_path, known)
    tables = answers(spark, tmp_path, tmp_path / "out", partitions)
    compared(tables, known)
    logs = {row["router"]: row for row in tables["access/logs"]}
    assert {router: (row["lines"], row["broken"]) for router, row in logs.items()} == {
        router: (len(lines), 3 * (router == "bern")) for router, lines in known.items()
    }
    assert (logs["rome"]["problem"], logs["rome"]["cut_bytes"], logs["rome"]["last"]) == (None, 25, LINES)
    assert (logs["oslo"]["problem"], logs["oslo"]["removed"]) == (None, LINES - len(known["oslo"]))
    assert logs["bern"]["problem"].startswith(f"audit-000000000001.jsonl:{wrong}: does not follow the line before it")
    said = remarks(tables)
    assert "The last line of the audit log of rome is cut (25 B), and was left out." in said
    assert any(each.startswith("The audit log of bern is not one chain: audit-000000000001.jsonl:") for each in said)
    found = headlines.figures("access", tmp_path / "out")
    assert (found["lines"], found["broken_chains"]) == (sum(map(len, known.values())), 1)
    assert "Requests that rules refused" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("seed", range(40))
def test_spans_of_the_same_rules_are_those_of_each_moment(seed: int) -> None:
    chance = Random(seed)
    loads: dict[str, list[Line]] = {router: [] for router in ROUTERS}
    rows = []
    for second in sorted(chance.choices(range(30), k=chance.randrange(1, 20))):
        router = chance.choice(ROUTERS)
        loads[router].append({"at": second, "digest": chance.choice("12"), "mode": "enforce"})
        rows.append(
            {"router": router, "at_us": second * 1_000_000, "n": len(rows), "digest": loads[router][-1]["digest"]}
        )
    rows.sort(key=lambda row: (row["at_us"], row["router"], row["n"]))
    spans = [span._asdict() for span in access.in_force(rows)]
    modes = Counter((each["digest"], each["mode"]) for mine in loads.values() for each in mine)
    rules = [{"digest": digest, "mode": mode, "loads": count} for (digest, mode), count in modes.items()]
    compared_rules({"access/in_force": spans, "access/rules": rules}, loads)


def rules_of(receives: str) -> str:
    roles = {"sensor": {"publish": "kind = 1"}, "board": {"subscribe": receives}}
    return written(roles, {"one": "sensor", "two": "board"})


def until_loaded(folder: Path, times: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while b"".join(path.read_bytes() for path in folder.iterdir()).count(b'"kind": "rules"') < times:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_what_real_routers_decided_is_told(spark: SparkSession, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.touch(0o600)
    rules.write_text(rules_of("kind = 1"))
    folders = {name: tmp_path / "data" / name / "audit" for name in ("a", "b")}
    for name in folders:
        where = f'routers: {{{name}: {{clients: "127.0.0.1:{free_port()}"}}}}'
        (tmp_path / f"{name}.yaml").write_text(f"{where}\naccess: rules.yaml\ndata: data\n")
    with blocking.started(tmp_path / "a.yaml", "a") as a, blocking.started(tmp_path / "b.yaml", "b") as b:
        for one in (a, b):
            with connect(one.address, name="two", token=token_of("two")) as board:
                for predicate in ("kind = 2", "kind = 3"):
                    with pytest.raises(SubscriptionRefused):
                        board.subscribe(predicate).start()
            with pytest.raises(NotAdmitted):
                connect(one.address, name="two", token=b"wrong").open()
        rules.write_text(rules_of("kind = 2"))
        os.kill(a.pid, signal.SIGHUP)
        until_loaded(folders["a"], 2)
    tables = answers(spark, tmp_path, tmp_path / "out", 1)
    assert [row["problem"] for row in tables["access/logs"]] == [None, None]
    [refused] = tables["access/constraints"]
    names = ("verb", "role", "outcome", "requests", "principals")
    assert [refused[name] for name in names] == ["subscribe", "board", "refused", 4, 1]
    [asked] = tables["access/requests"]
    assert (asked["principal"], asked["requests"]) == ("two", 4)
    [failed] = tables["access/not_admitted"]
    assert (failed["address"], failed["why"], failed["attempts"]) == ("127.0.0.1", "credential", 2)
    assert [(row["routers"], row["loads"]) for row in tables["access/rules"]] == [(["a", "b"], 2), (["a"], 1)]
    assert [(row["is_same"], row["routers"]) for row in tables["access/in_force"]] == [(True, 2), (False, 2)]
    assert tables["access/in_force"][-1]["last"] == ["b"]
    assert any("different access rules at the end; others than the newest: b" in each for each in remarks(tables))
