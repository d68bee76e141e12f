"""Rules of access under attack: what a principal does to what is another's, and rules that change under load.

Law: what was done is judged by what arrives, and by what the owner sees afterwards, not by what the router says.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.attack.figure import HOLD_MS, Figure, Meter
from tests.attack.owners import DURABLE_KEYS, ID, TOP, ask, policy, publish, taken
from tests.stranger import frames
from tests.stranger.client import Ended, Refused, Stranger
from tests.stranger.predicates import packed
from tests.stranger.routers import Network, Router

RELOADS = 1_000
REVOKED_S = 1.0
LATE = 1_000
"""The least number of messages that are published after the rules have changed."""
GREETINGS_S = 2_000
"""Wrong greetings a second."""
GREETED_S = 10.0
SOURCES = [f"127.3.{i // 250}.{1 + i % 250}" for i in range(1_000)]
ROLES = {
    "owner": {
        "publish": "exists n",
        "subscribe": "exists n",
        "durable": {"names": "jobs*", "of": "exists n", "idle_max": "never"},
        "groups": "workers",
    },
    "other": {
        "publish": "exists mine",
        "subscribe": "exists mine",
        "durable": {"names": "mine", "of": "exists mine", "idle_max": "never"},
    },
    "admin": {"admin": "admin", "inspect": "*"},
}
N = packed([["n", frames.EXISTS]])


def _rules(roles: object, principals: dict[str, str]) -> str:
    lines = {
        name: {"roles": role, "token": f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"}
        for name, role in principals.items()
    }
    return json.dumps({"roles": roles, "principals": lines})


def _written(folder: Path, text: str) -> str:
    """Write the file of rules, and return the keys of a topology that names it."""
    file = folder / "rules.yaml"
    file.touch(mode=0o600)
    file.write_text(text)
    return f"access: rules.yaml\n{DURABLE_KEYS}"


@contextlib.contextmanager
def _client(router: Router, name: str, token: str = "") -> Iterator[Stranger]:
    """A client whose token is its name, if no other is given."""
    with Stranger(*router.clients, name, token or name, patience_s=20) as client:
        yield client


def verbs(folder: Path, _scale: float) -> list[Figure]:
    """What a principal with rights of its own does to what another principal owns, verb by verb."""
    keys = _written(folder, _rules(ROLES, {"owner": "owner", "other": "other"}))
    done: Counter[str] = Counter()
    with (
        Network(folder, "r", keys=keys) as net,
        _client(net["r"], "owner") as owner,
        _client(net["r"], "other") as other,
    ):
        assert ask(owner, frames.CREATE_DURABLE, "jobs", policy()) == (0, "")
        assert not other.subscribe({1: [[["n", frames.EXISTS]]]})
        assert ask(other, frames.CREATE_DURABLE, "mine", policy()) == (0, "")
        publish(owner, 1)
        done["gets it live"] = not other.is_silent(0.5)
        done["gets it stored"] = ask(other, frames.CONSUME, ID + 2, "mine", 100) == (0, "") and not other.is_silent(0.5)
        for verb, kind, body in (
            ("makes it", frames.CREATE_DURABLE, ["jobs", policy(count=1)]),
            ("makes one of the owner's names", frames.CREATE_DURABLE, ["jobs-2", policy()]),
            ("consumes it", frames.CONSUME, [ID, "jobs", 100]),
            ("skips in it", frames.CONSUME, [ID, "jobs", 0, TOP]),
            ("removes it", frames.REMOVE_DURABLE, ["jobs"]),
        ):
            done[verb] = not ask(other, kind, *body)[0]
        done["learns that it exists"] = ask(other, frames.CONSUME, ID, "jobs", 1) != _like_none(other)
        with contextlib.suppress(Refused):
            other.confirmed({"n": 7})
            done["publishes to it"] = 1
        done["replays it"] = _replayed(other)
        done["sees it listed"] = b"jobs" in net["r"].ask("/durables", Authorization="Bearer other:other")[1]
        assert ask(owner, frames.CONSUME, ID, "jobs", 100) == (0, "")
        got = taken(owner)
    said = ", ".join(verb for verb, count in done.items() if count)
    shape = "what another principal owns, under rules"
    return [
        Figure(shape, f"of {len(done)} deeds done: {said or 'none'}", "-", sum(done.values()), 0),
        Figure(shape, "of 1 message that the owner gets", "-", got == [1], 1, is_least=True),
    ]


def _like_none(client: Stranger) -> tuple[int, str]:
    """Return the answer about a name that does not exist, with the name `jobs` in it."""
    code, reason = ask(client, frames.CONSUME, ID, "none", 1)
    return code, reason.replace("none", "jobs")


def _replayed(client: Stranger) -> bool:
    """Return whether a replay of everything brings a message."""
    client.send(frames.frame(frames.REPLAY, [client.request(), ID + 1, [N], 0, TOP, 100]))
    while not client.is_silent(0.5):
        if frames.kind_of(client.waiting.popleft()) == frames.DELIVER:
            return True
    return False


def reloads(folder: Path, scale: float) -> list[Figure]:
    """Rules that change under load between two files: kind 3 enters by both and goes out by none, 4 enters by none."""
    texts = [
        _rules(
            {"in": {"publish": f"kind = {kind} or kind = 3"}, "out": {"subscribe": f"kind = {kind} or kind = 4"}},
            {"writer": "in", "reader": "out"},
        )
        for kind in (1, 2)
    ]
    keys, count = _written(folder, texts[0]), max(20, int(RELOADS * scale))
    entered: Counter[int] = Counter()
    is_over = threading.Event()

    def write(writer: Stranger) -> None:
        while not is_over.is_set():
            for kind in range(1, 5):
                with contextlib.suppress(Refused):
                    writer.confirmed({"kind": kind})
                    entered[kind] += 1

    with Network(folder, "r", keys=keys) as net, _client(net["r"], "writer") as writer:
        with _client(net["r"], "reader") as reader:
            assert not reader.subscribe({1: [[["kind", frames.EXISTS]]]})
            thread = threading.Thread(target=write, args=(writer,), daemon=True)
            thread.start()
            for number in range(count):
                (folder / "rules.yaml").write_text(texts[(number + 1) % 2])
                assert net["r"].reload()["reloaded"]
            is_over.set()
            thread.join()
            got: Counter[int] = Counter()
            while not reader.is_silent(1):
                got[reader.message().attributes["kind"]] += 1
        tracebacks = net["r"].tracebacks
    shape = f"{count} reloads under load"
    return [
        Figure(shape, "messages that enter by neither file", "-", entered[4], 0),
        Figure(shape, "messages that come out by neither file", "-", got[3] + got[4], 0),
        Figure(shape, "messages that come out", "-", got[1] + got[2], 1, is_least=True),
        Figure(shape, "tracebacks", "-", tracebacks, 0),
    ]


def revoked(folder: Path, _scale: float) -> list[Figure]:
    """A principal that rules no longer list, behind another router than who publishes: with a live subscription, a
    durable one, and a replay that waits for credit."""
    keys = _written(folder, _rules(ROLES, {"owner": "owner", "reader": "owner", "admin": "admin"}))
    with (
        Network(folder, "ab", ["ab"], keys=keys) as net,
        _client(net["a"], "owner") as far,
        _client(net["b"], "owner/near", "owner") as near,
    ):
        net.until_linked(Authorization="Bearer admin:admin")
        with _client(net["b"], "reader") as reader:
            assert not reader.subscribe({1: [[["n", frames.EXISTS]]]}, wait=frames.NETWORK)
            assert ask(reader, frames.CREATE_DURABLE, "jobs", policy()) == (0, "")
            for n in range(3):
                publish(near, n)
            replay = [reader.request(), ID + 1, [N], 0, TOP, 1]
            reader.send(frames.frame(frames.REPLAY, replay))
            assert ask(reader, frames.CONSUME, ID, "jobs", 1) == (0, "")
            far.confirmed({"n": 4})
            (folder / "rules.yaml").write_text(_rules(ROLES, {"owner": "owner"}))
            assert net["a"].reload()["reloaded"]
            began_s = time.monotonic()
            assert net["b"].reload()["reloaded"]
            far.confirmed({"n": LATE})
            near.confirmed({"n": LATE})
            publish(near, LATE)
            ended_s, got = _until_ended(reader, began_s)
        for router in "ab":
            with contextlib.suppress(Ended, OSError), _client(net[router], "reader"):
                got.append(LATE)
        tracebacks = net["a"].tracebacks + net["b"].tracebacks
    shape = "a principal that is removed, behind another router"
    return [
        Figure(shape, "messages that it gets afterwards, and greetings", "-", sum(n >= LATE for n in got), 0),
        Figure(shape, "messages that it gets before", "-", sum(n < LATE for n in got), 3, is_least=True),
        Figure(shape, "seconds until its session ends", "-", ended_s, REVOKED_S, is_time=True),
        Figure(shape, "tracebacks", "-", tracebacks, 0),
    ]


def _until_ended(reader: Stranger, began_s: float) -> tuple[float, list[int]]:
    got = []
    try:
        while True:
            got.append(reader.message().attributes["n"])
    except (Ended, OSError):
        return time.monotonic() - began_s, got


def greetings(folder: Path, scale: float) -> list[Figure]:
    """Wrong tokens of 1,000 addresses for the name of a principal, while an honest pair goes on. What the attack costs
    the machine is not the router's: the pair is compared with one beside an attack on another router."""
    roles = {"all": {"publish": "true", "subscribe": "true"}, "admin": ROLES["admin"]}
    rules, aside = _rules(roles, {"press-1": "all", "admin": "admin"}), folder / "other"
    seconds = max(3.0, GREETED_S * scale)
    aside.mkdir()
    with (
        Network(folder, "r", keys=_written(folder, rules)) as net,
        Network(aside, "r", keys=_written(aside, rules)) as other,
        _client(net["r"], "press-1") as honest,
    ):
        assert not honest.subscribe({1: [[["n", frames.EXISTS]]]}, own=True)
        before_s = _p99(honest, seconds)
        beside_s, _ = _attacked(other["r"], honest, seconds)
        run = Meter(net["r"], Authorization="Bearer admin:admin")
        with run:
            during_s, begun = _attacked(net["r"], honest, seconds)
        tracebacks = net["r"].tracebacks
    shape = "wrong greetings"
    beside = f"{beside_s / before_s:.1f} times without"
    return [
        Figure(shape, "a second", "-", begun / seconds, GREETINGS_S * 0.9, is_least=True, is_time=True),
        Figure(shape, "p99 of an honest client, times that beside it", beside, during_s / beside_s, 2, is_time=True),
        Figure(shape, "us of CPU a greeting", "-", run.cpu_s / begun * 1e6, 1e6 / GREETINGS_S, is_time=True),
        Figure(shape, "longest hold, ms", "-", run.hold_ms, HOLD_MS, is_time=True),
        Figure(shape, "tracebacks", "-", tracebacks, 0),
    ]


def _attacked(router: Router, honest: Stranger, seconds: float) -> tuple[float, int]:
    """Return the 99th percentile of an honest client while a router is attacked, and the number of greetings."""
    host, port = router.clients
    words = [host, str(port), str(seconds), str(GREETINGS_S), *SOURCES]
    command = [sys.executable, "-m", "tests.attack.greet_wrongly", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as process:  # noqa: S603
        during_s = _p99(honest, seconds)
        return during_s, int(process.communicate(timeout=60)[0])


def _p99(client: Stranger, seconds: float) -> float:
    """Return the 99th percentile of the seconds from the publishing of a message to its delivery, 200 a second."""
    took, ends_s = [], time.monotonic() + seconds
    while (began_s := time.monotonic()) < ends_s:
        client.publish({"n": len(took)})
        assert client.message().attributes["n"] == len(took)
        took.append(time.monotonic() - began_s)
        time.sleep(0.005)
    return sorted(took)[int(len(took) * 0.99)]
