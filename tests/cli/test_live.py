"""Commands against a router that runs: publish, subscribe, look, measure."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.blocking import connect
from tamis.cli.main import main
from tamis.testing import blocking
from tests.routers import Running, running, running_line

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def router(tmp_path_factory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("router")) as found:
        yield found


@pytest.fixture(autouse=True)
def _address(router, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TAMIS_URL", router.client)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@contextlib.contextmanager
def subscriber(*argv: str) -> Iterator[subprocess.Popen[bytes]]:
    """`tamis sub` as a process whose subscription is active."""
    command = [sys.executable, "-m", "tamis.cli.main", "sub", "--timeout", "30", *argv]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ) as process:  # noqa: S603
        assert process.stderr
        try:
            said = process.stderr.readline()
            if "--dialect" in argv or "qty" in argv[0]:
                assert said.startswith(b"index part: ")
                said = process.stderr.readline()
            assert said.startswith(b"subscribed as ")
            yield process
        finally:
            process.send_signal(signal.SIGINT)  # so that it leaves in order, and the next test finds nothing of it


def lines(process: subprocess.Popen[bytes]) -> list[bytes]:
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, b"")
    return out.splitlines()


def test_what_is_published_reaches_who_wants_it(capsys) -> None:
    with subscriber("n > 2", 'kind = "odd"', "--count", "3", "--json") as receiver:
        assert main(["pub", "n={{count}}", "--count", "4", "--payload", "no. {{count}}", "--json"]) == 0
        assert main(["pub", "kind=odd", "--confirm"]) == 0
        received = [json.loads(line) for line in lines(receiver)]
    assert [(form["attributes"], form.get("payload")) for form in received] == [
        ({"n": 3}, "no. 3"),
        ({"n": 4}, "no. 4"),
        ({"kind": "odd"}, None),
    ]
    assert [form["matched"] for form in received] == [["n > 2"], ["n > 2"], ['kind = "odd"']]
    out, err = capsys.readouterr()
    counts = json.loads(out)
    del counts["seconds"]
    assert counts == {"sent": 4, "refused": 0}
    assert err.splitlines()[0].startswith("4 messages sent in ")
    assert err.splitlines()[1].startswith("1 message published in ")


def test_a_subscription_has_a_dialect(monkeypatch) -> None:
    monkeypatch.setenv("TAMIS_DIALECT", "mqtt")
    with subscriber("+/temperature", "--count", "1", "--format", "{{topic}}") as receiver:
        for topic in ("hall/humidity", "hall/temperature"):
            assert main(["pub", "--dialect", "mqtt", topic, "--confirm"]) == 0
        assert lines(receiver) == [b"hall/temperature"]


def test_a_program_decides_what_a_predicate_cannot() -> None:
    with subscriber(
        "price * qty > 10", "--dialect", "jms", "--count", "1", "--format", "{{price}} {{qty}}"
    ) as receiver:
        for price, qty in ((2, 5), (3, 5)):
            assert main(["pub", f"price={price}", f"qty={qty}", "--confirm"]) == 0
        assert lines(receiver) == [b"3 5"]


def test_the_language_itself_has_conditions_that_a_program_decides(capsys) -> None:
    with subscriber('price * qty > 10 and side like "b_y"', "--count", "1", "--format", "{{price}}") as receiver:
        for price, side in ((3, "buy"), (4, "sell"), (5, "buuy"), (6, "bxy")):
            assert main(["pub", f"price={price}", "qty=2", f"side={side}", "--confirm"]) == 0
        assert lines(receiver) == [b"6"]
    assert main(["sub", "price * qty > 10", "--group", "workers"]) == 2
    assert "line 1, column 13: a predicate must be exact here" in capsys.readouterr().err


def test_of_a_clock_that_is_too_far_ahead_is_told_that_nothing_is_published(monkeypatch, capsys) -> None:
    now_ns = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now_ns() + 2 * 86_400 * 10**9)
    assert main(["pub", "n={{count}}", "--count", "4", "--json"]) == 1
    out, err = capsys.readouterr()
    counts = json.loads(out)
    assert (counts["sent"], round(counts["clock_ahead_s"])) == (4, 172_800)
    assert "the clock here is 2 d 0 h ahead of that of router 'a'" in err
    assert "4 messages sent, and dropped by the router in " in err
    assert main(["pub", "n={{count}}", "--count", "4", "--confirm", "--json"]) == 1
    out, err = capsys.readouterr()
    counts = json.loads(out)
    assert (counts["sent"], counts["published"], counts["refused"]) == (4, 0, 4)
    assert "4 messages: the router refused the message: TOO_FAR_AHEAD" in err
    assert "the clock here is 2 d 0 h ahead of that of router 'a'" in err
    assert "0 messages published in " in err


def test_of_a_clock_that_is_right_nothing_is_said(capsys) -> None:
    assert main(["pub", "n=1", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "clock_ahead_s" not in json.loads(out)
    assert "clock" not in err


def test_lines_of_stdin_are_messages(tmp_path: Path, monkeypatch, capsys) -> None:
    text = tmp_path / "messages"
    text.write_text('{"t": 1}\nnot one\n{"attributes": {"t": 2}, "payload": "p"}\n')
    with subscriber("exists t", "--count", "2", "--format", "{{t}}:{{.payload}}") as receiver, text.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["pub", "--confirm", "--rate", "1000"]) == 1
        assert lines(receiver) == [b"1:", b"2:p"]
    assert "<stdin>:2: not JSON" in capsys.readouterr().err


def test_a_payload_from_a_file_arrives_as_it_is(tmp_path: Path) -> None:
    payload = tmp_path / "payload"
    payload.write_bytes(b"\x00\xff{{count}}")
    with subscriber('kind = "file"', "--count", "1", "--format", "raw") as receiver:
        assert main(["pub", "kind=file", "--payload-file", str(payload)]) == 0
        assert lines(receiver) == [b"\x00\xff{{count}}"]


def test_a_timeout_ends_a_subscription(capsys) -> None:
    assert main(["sub", "true", "--timeout", "0.3"]) == 0
    assert main(["sub", "exists nothing", "--timeout", "0.3", "--count", "1"]) == 1
    assert capsys.readouterr().out == ""


def test_status(router, capsys) -> None:
    assert main(["status", router.file]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:2] == ["a", "serving"]
    assert main(["status", router.admin, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["router"], form["state"], form["admin"]) == ("a", "serving", router.admin)


def test_filters_and_why_a_message_goes_where(router, capsys) -> None:
    with (
        subscriber("severity > 2 or a = 1", "--name", "desk"),
        subscriber("b = 2", "--name", "other"),
        subscriber("price * qty > 9 AND d = 1", "--name", "third", "--dialect", "jms"),
        connect(router.client, name="fourth") as client,
        client.subscribe("alerts/+", dialect="mqtt"),
    ):
        client.publish({"d": 1, "price": 3, "qty": 4}, confirm=True)
        client.publish({"d": 1, "price": 3, "qty": 1}, confirm=True)
        assert main(["filters", router.file]) == 0
        shown = capsys.readouterr().out.splitlines()
        assert main(["filters", router.file, "--client", "other", "--json"]) == 0
        [form] = map(json.loads, capsys.readouterr().out.splitlines())
        assert main(["explain", "--router", router.file, "severity=6", "a=2"]) == 0
        why = capsys.readouterr().out
        assert main(["explain", "--router", router.file, "--json", "severity=6"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert main(["explain", "--router", router.file, "c=1"]) == 0
        nobody = capsys.readouterr().out
    assert shown[0].split()[3:] == ["dialect", "exact", "passed", "filter"]
    assert {tuple(re.split("  +", line.strip())[1:]) for line in shown[1:]} == {
        ("desk", "1", "yes", "severity > 2"),
        ("desk", "1", "yes", "a = 1"),
        ("other", "1", "yes", "b = 2"),
        ("third", "1", "jms", "no", "1 of 2", "d = 1 and exists price and exists qty, and d = 1 and price * qty > 9"),
        ("fourth", "1", "mqtt", "yes", 'topic/1 = "alerts" and exists topic/2 and not exists topic/3'),
    }
    assert (form["client"], form["filter"]) == ("other", "b = 2")
    assert why == (
        "router a: 1 filter matches, the message goes to desk\n"
        "desk, subscription 1: severity > 2\n"
        "     yes  severity > 2  severity is 6\n"
    )
    assert (answer["router"], answer["clients"], answer["matching_filters"]) == ("a", ["desk"], 1)
    assert nobody == "router a: no filter matches, the message has no receiver\n"


def test_the_way_of_a_message_through_a_line(tmp_path: Path, capsys) -> None:
    with running_line(tmp_path, "abc") as routers:
        first, _, last = [router.client for router in routers]
        until_linked(routers[0].admin, "abc", capsys)
        with subscriber(last, "x > 1", "--name", "desk", "--wait", "network", "--count", "1", "--json") as receiver:
            assert main(["trace", "--dry-run", first, "x=2", "--router", routers[0].file]) == 0
            dry = capsys.readouterr().out.splitlines()
            assert main(["explain", "x=2", "--router", routers[0].file]) == 0
            why = capsys.readouterr().out.splitlines()
            assert main(["explain", "x=1", "--router", routers[0].admin]) == 0
            assert capsys.readouterr().out.endswith("no filter of its clients matches, the message has no receiver\n")
            assert main(["trace", "--dry-run", first, "x=1", "--json"]) == 0
            nobody = json.loads(capsys.readouterr().out)
            assert main(["trace", first, "x=2", "--payload", "p", "--name", "me", "--json"]) == 0
            forms = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
            [received] = [json.loads(line) for line in lines(receiver)]
    assert [line.split() for line in dry[1:]] == [
        ["a", "0", "b"],
        ["└─", "b", "0", "c"],
        ["└─", "c", "1", "desk:", "x", ">", "1"],
    ]
    assert why[:3] == [
        "router a: no filter of its clients matches, it is forwarded to b, for c",
        "router b: no filter of its clients matches, it is forwarded to c, for c",
        "router c: 1 filter matches, the message goes to desk",
    ]
    assert (nobody["router"], nobody["routers"], nobody["deliveries"]) == ("a", [], [])
    assert [(form["came_from"], form["router"], form["routers"]) for form in forms] == [
        ("me", "a", ["b"]),
        ("a", "b", ["c"]),
        ("b", "c", []),
    ]
    assert [form["departure_count"] for form in forms] == [1, 1, 1]
    assert forms[0]["after_ns"] == 0
    assert (received["attributes"], received["payload"]) == ({"x": 2}, "p")


def until_linked(admin: str, names: str, capsys) -> None:
    """Each look at the routes is a request that the router answers between others."""
    reached: list[str] = []
    while sorted(reached) != sorted(names):
        assert main(["show", "routes", admin, "--json"]) == 0
        form = json.loads(capsys.readouterr().out)
        reached = [each["router"] for each in form["routers"] if each["reachable"]]


def test_the_way_of_a_message_at_one_router(router, capsys) -> None:
    with subscriber("way = 1", "--name", "desk"):
        assert main(["trace", "way=1", "--router", router.file]) == 0
        out = capsys.readouterr().out.splitlines()
    assert out[1].split()[0] == "a"
    assert out[1].endswith("desk          desk: way = 1")
    assert main(["trace"]) == 2
    assert "Missing argument 'ATTRIBUTE'" in capsys.readouterr().err


def test_a_copy_for_a_worker_group_is_said_to_be_one(router, capsys) -> None:
    with (
        subscriber("job = 1", "--name", "worker-1", "--group", "workers"),
        subscriber("job = 1", "--name", "worker-2", "--group", "workers"),
        subscriber("job = 1", "--name", "desk"),
    ):
        assert main(["explain", "--router", router.file, "job=1"]) == 0
        why = capsys.readouterr().out.splitlines()
        for command in (["trace", "--dry-run"], ["trace"]):
            assert main([*command, "job=1", "--router", router.file]) == 0
            way = capsys.readouterr().out
            assert way.count(" for group workers: job = 1") == 1
            assert "desk: job = 1" in way
        assert main(["filters", router.file, "--json"]) == 0
        groups = {form["client"]: form["group"] for form in map(json.loads, capsys.readouterr().out.splitlines())}
    assert why[0] == "router a: 3 filters match, the message goes to desk, one of the members of group workers"
    assert {"worker-1, subscription 1, group workers: job = 1", "desk, subscription 1: job = 1"} < {*why}
    assert groups == {"worker-1": "workers", "worker-2": "workers", "desk": None}


def test_top_shows_an_interval(router, capsys) -> None:
    with subscriber("true", "--name", "desk"):
        assert main(["top", router.file, "--once", "--interval", "0.1"]) == 0
        shown = capsys.readouterr().out
        assert main(["top", router.file, "--once", "--interval", "0.1", "--json"]) == 0
        form = json.loads(capsys.readouterr().out)
    assert shown.splitlines()[1].split()[:4] == ["a", "serving", "1", "1"]
    assert "desk" in shown
    assert [row["client"] for row in form["connections"]] == ["desk"]


def test_load_on_a_router(capsys) -> None:
    assert main(["bench", "pub", "--count", "2000", "--rounds", "2", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["messages"] == 2000
    assert 0 < form["slowest"] <= form["median"] <= form["fastest"]
    assert main(["bench", "route", "--count", "20", "--rate", "10000", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["messages"], form["lost"]) == (20, 0)
    assert 0 < form["p50_us"] <= form["p99_us"] <= form["max_us"]


def test_load_that_arrives(capsys) -> None:
    command = [sys.executable, "-m", "tamis.cli.main", "pub", "class=bench", "--count", "0"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ) as publisher:  # noqa: S603 - our own command
        try:
            assert main(["bench", "sub", "--count", "1000", "--rounds", "4", "--json"]) == 0
        finally:
            publisher.kill()  # else leaving the block would wait for it
    form = json.loads(capsys.readouterr().out)
    assert form["messages"] == 1000
    assert main(["bench", "sub", "exists nothing", "--seconds", "0.1"]) == 1
    assert capsys.readouterr().out.startswith("0 messages a second")


def self_signed(folder: Path) -> tuple[Path, Path]:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    asked = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    command = ["openssl", *asked.split(), "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    return key, certificate


@pytest.mark.skipif(not shutil.which("openssl"), reason="certificates are made with openssl")
def test_an_address_of_another_kind_is_guessed_at(tmp_path: Path, capsys) -> None:
    """The port of administration, TLS where there is none, none where there is: the error says what was meant."""
    key, certificate = self_signed(tmp_path)
    (tmp_path / "bare.yaml").write_text("routers: {a: {clients: '127.0.0.1:0', admin: '127.0.0.1:0'}}")
    (tmp_path / "tls.yaml").write_text(
        f"routers: {{a: {{clients: '127.0.0.1:0', tls: {{certificate: {certificate}, key: {key}}}}}}}"
    )
    with blocking.started(tmp_path / "bare.yaml", "a") as bare, blocking.started(tmp_path / "tls.yaml", "a") as tls:
        for address, said in (
            (
                f"tamis://{bare.admin}",
                f"tamis://{bare.admin} is the address of a router's administration: give it as http://",
            ),
            (bare.address.replace("tamis:", "tamis+tls:"), f"without it the address is {bare.address}"),
            (tls.address.replace("tamis+tls:", "tamis:"), f"speaks TLS: the address is {tls.address}, perhaps"),
        ):
            assert main(["pub", address, "a=1"]) == 1
            assert said in capsys.readouterr().err
        assert main(["pub", f"http://{bare.admin}", "a=1", "--confirm"]) == 0


def test_a_token_lets_in_who_has_it(tmp_path: Path, capsys) -> None:
    for name, text in (("tokens", "press-1 secret-of-press\n"), ("mine", "secret-of-press\n"), ("wrong", "guess\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    with running(tmp_path, "tokens: tokens") as guarded:
        publish = ["pub", guarded.client, "a=1", "--confirm", "--name", "press-1", "--token-file"]
        assert main([*publish, str(tmp_path / "mine")]) == 0
        capsys.readouterr()
        assert main([*publish, str(tmp_path / "wrong")]) == 1
        assert capsys.readouterr().err.startswith("Error: ")
