"""`tamis check`: the summary of a sound topology, the mistakes of another."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tamis.cli.main import main
from tests.router.connections.test_certificate import expired, made

LINE3 = str(Path(__file__).parents[2] / "configs" / "topologies" / "line3.yaml")


def test_a_sound_file(capsys) -> None:
    assert main(["check", LINE3]) == 0
    assert capsys.readouterr() == (
        f"{LINE3}: 3 routers, 2 links, strategy advertise, engine tamis\na, b, c store no messages: no `data` folder\n",
        "",
    )


def test_a_sound_file_as_json(capsys) -> None:
    assert main(["check", "--json", LINE3]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["sound"], summary["file"], summary["routers"], summary["links"]) == (True, LINE3, 3, 2)


def test_a_file_of_the_version_before_is_sound_and_told_about(tmp_path: Path, capsys) -> None:
    path = tmp_path / "network.yaml"
    path.write_text("routers: {a: {}}\nengine: {name: sff, rounds: 3}\n")
    assert main(["check", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{path}: 1 router, 0 links, strategy advertise, engine sff\n")
    assert err.startswith(f"{path}:2:21: engine.rounds: ")
    assert main(["check", "--json", str(path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["sound"], told["warnings"]) == (True, err.splitlines())


def test_the_strategy_of_a_file_with_its_reuse_and_its_roots(tmp_path: Path, capsys) -> None:
    path = tmp_path / "network.yaml"
    routers = 'routers: {a: {}, b: {neighbours: "unix:b"}}\nlinks: [[a, b]]\n'
    said = "strategy: {name: rendezvous, classes: {orders: x = 1, rest: y = 1}, roots: {orders: [b, a]}, others: [a]}"
    path.write_text(f"{routers}{said}\n")
    assert main(["check", "--text-only", str(path)]) == 0
    roots = "root of class orders: b else a, class rest: by hash, messages of no class: a"
    first, *_ = capsys.readouterr().out.splitlines()
    assert first == f"{path}: 2 routers, 1 link, strategy rendezvous ({roots}), engine tamis"
    assert main(["check", "--text-only", "--json", str(path)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["roots"] == [["orders", ["b", "a"]], ["rest", []], [None, ["a"]]]
    path.write_text(f"{routers}strategy: {{name: advertise, reuse: destinations}}\n")
    assert main(["check", "--text-only", "--json", str(path)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["strategy"], summary["reuse"]) == ("advertise-destinations", "destinations")


def test_every_mistake_is_reported(tmp_path: Path, capsys) -> None:
    path = tmp_path / "network.yaml"
    path.write_text("routers:\n  a: {}\nlinks:\n  - [a, b]\nnmae: x\n")
    assert main(["check", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) >= 2
    assert all(line.startswith(f"{path}:") for line in err.splitlines())
    assert main(["check", "--json", str(path)]) == 1
    out, again = capsys.readouterr()
    assert json.loads(out) == {"file": str(path), "sound": False, "mistakes": err.splitlines()}
    assert again == err


def test_a_file_that_is_not_there(tmp_path: Path, capsys) -> None:
    assert main(["check", str(tmp_path / "none.yaml")]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["pydantic", "yaml"])
def test_without_the_extra_it_says_what_to_install(missing: str, monkeypatch, capsys) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] == missing or name.startswith("tamis.configs"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["check", LINE3]) == 1
    assert capsys.readouterr().err == f"Error: topology files need {missing}: pip install 'tamis[router]'\n"


KEEPING = """\
kept: {folder: run/kept, bytes: 268435456, segment_bytes: 1048576}
routers: {a: {}, b: {durable: {subscriptions: 5}, neighbours: "unix:b"}, c: {}}
links: [[a, b], [b, c]]
"""


def test_a_section_durable_is_told_in_words(tmp_path: Path, capsys) -> None:
    path = tmp_path / "network.yaml"
    path.write_text(KEEPING)
    assert main(["check", str(path), "--text-only"]) == 0
    _, *said = capsys.readouterr().out.splitlines()
    assert said[0] == f"a, c store messages on disk; the log of a is in {tmp_path}/run/kept/a"
    assert said[12] == f"b stores messages on disk; its log is in {tmp_path}/run/kept/b"
    assert said[1] == (
        "  at most 256.0 MiB of log; above it, publishes to be stored are refused (LOG_FULL), acknowledgements are "
        "accepted"
    )
    assert said[15] == "  at most 5 durable subscriptions; above it, more are refused (OVER_QUOTA)"
    assert len(said) == 24
    assert main(["check", str(path), "--text-only", "--json"]) == 0
    kept = json.loads(capsys.readouterr().out)["durable"]
    assert (kept["a"]["folder"], kept["b"]["subscriptions"]) == (f"{tmp_path}/run/kept/a", 5)


def test_what_is_kept_by_default_and_who_keeps_nothing_is_told(tmp_path: Path, capsys) -> None:
    path = tmp_path / "network.yaml"
    path.write_text("routers: {a: {data: run/a}, b: {neighbours: 'unix:b'}, c: {data: run/c, durable: false}}\n")
    with path.open("a") as file:
        file.write("links: [[a, b], [b, c]]\n")
    assert main(["check", str(path), "--text-only"]) == 0
    log = f"its log is in {tmp_path}/run/a/log, with a quarter of the free space there, at most 10.0 GiB"
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"a stores messages on disk once a durable subscription exists; {log}",
        "b stores no messages: no `data` folder",
        "c stores no messages: `durable: false`",
    ]
    assert main(["check", str(path), "--text-only", "--json"]) == 0
    kept = json.loads(capsys.readouterr().out)["durable"]
    assert kept.keys() == {"a"}
    assert (kept["a"]["bytes"], kept["a"]["share_of_free"]) == (10 * 2**30, 0.25)


def test_every_bound_of_a_section_durable_is_told(tmp_path: Path, capsys) -> None:
    from tamis.configs.sections.durable import DurableSettings

    path = tmp_path / "network.yaml"
    numbers = {"bytes": 2**30 * 3, "segment_bytes": 2**20, "memory_bytes": 2**20 * 7, "subscriptions": 11, "series": 13}
    custody = {"bytes": 2**20 * 41, "share": 0.43, "age": 47 * 3_600, "overflow": "refuse", "window": 2**20}
    numbers |= {"share": 0.31, "custody": custody}
    numbers |= {
        "subscriptions_per_client": 17,
        "bytes_per_client": 2**20 * 19,
        "consumers_per_subscription": 23,
        "replays_per_client": 29,
        "replay_bytes": 2**20 * 37,
    }
    assert {*numbers, "folder"} == {*DurableSettings.model_fields}
    path.write_text(f"routers: {{a: {{durable: {json.dumps(numbers | {'folder': 'x'})}}}}}\n")
    assert main(["check", str(path), "--text-only"]) == 0
    out = capsys.readouterr().out
    for shown in (
        "3.0 GiB",
        "7.0 MiB",
        " 11 durable subscriptions",
        " 17 durable subscriptions",
        "19.0 MiB",
        " 23 ",
        " 29 ",
        "37.0 MiB",
        "0.31 of the log",
        "41.0 MiB for another router, and 0.43 of the log",
        "the log for all; above it, publishes to be stored for it are refused (LOG_FULL)",
        "1 d 23 h of waiting for another router",
        "1.0 MiB of another router",
    ):
        assert shown in out


def test_what_a_router_would_miss_at_its_start_is_said_with_its_place(tmp_path, capsys) -> None:
    file = tmp_path / "net.yaml"
    (tmp_path / "taken").write_text("a file")
    file.write_text(
        """\
data: taken
routers:
  a: {clients: "0.0.0.0:0", neighbours: "127.0.0.1:7999", data: /proc/nowhere, admin: "0.0.0.0:0"}
  b: {tls: {certificate: c.pem, key: k.pem}, tokens: nosuch, records: {folder: taken}}
links:
  - {ends: [a, b], secret: nosecret}
"""
    )
    assert main(["check", str(file)]) == 1
    said = [line.removeprefix(f"{file}:") for line in capsys.readouterr().err.splitlines()]
    assert [(line.split(": ")[0], line.split(": ")[1], line.split(": ")[2].split(" ")[0]) for line in sorted(said)] == [
        ("1:7", "b", "data"),
        ("3:16", "a", "clients"),
        ("3:65", "a", "data"),
        ("3:87", "a", "admin"),
        ("4:12", "b", "tls"),
        ("4:54", "b", "token"),
        ("4:80", "b", "records.folder"),
        ("6:28", "a, b", "secret"),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.yaml", "taken"]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl")
def test_a_certificate_that_has_expired_is_said(tmp_path, capsys) -> None:
    certificate = made(tmp_path, 5)
    file = tmp_path / "net.yaml"
    file.write_text(
        "routers:\n  a: {clients: '127.0.0.1:7400'}\n" + f"tls: {{certificate: {certificate.name}, key: key.pem}}\n"
    )
    assert main(["check", str(file)]) == 0
    expired(certificate)
    capsys.readouterr()
    for command in (["check"], ["up"], ["up", "--detach"]):
        assert main([*command, str(file)]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"{file}:3:20: a: tls: the certificate {certificate} expired on ")
