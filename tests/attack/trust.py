"""Numbers, names, credentials and acknowledgements: what a router believes, and what it promises."""

from __future__ import annotations

import contextlib
import re
import signal
import time
from pathlib import Path

import msgpack

from tests.attack.figure import Figure
from tests.stranger import frames
from tests.stranger.client import Ended, Refused, Stranger
from tests.stranger.frames import EQ, IN
from tests.stranger.neighbour import Neighbour
from tests.stranger.predicates import NOTHING, number
from tests.stranger.routers import Network, Router, until

TOP = 2**64 - 1
HOUR_NS = 3_600 * 10**9
EVERYTHING = [[]]


def now_ms() -> int:
    return time.time_ns() // 10**6


def epoch_of_another(folder: Path, _scale: float) -> list[Figure]:
    """A neighbour states something of c with the largest epoch there is; then c starts again."""
    with Network(folder, "ac", ["ac", "ab"], elsewhere="b") as net:
        net.until_linked("ac")
        net.until_ready("ac")
        byzantine = Neighbour(net["a"].neighbours, "b", now_ms()).join()
        n = number("c")
        byzantine.say_in_parts(frames.RA, n, TOP, TOP, [n, TOP, TOP, True, 0, [], [], NOTHING, 0, False])
        byzantine.say(frames.LSA, ["c", TOP, TOP, []])
        time.sleep(4)
        works = _delivered(net["a"], net["c"], "before") + _delivered(net["c"], net["a"], "back")
        ready = net["a"].is_ready and net["c"].is_ready
        alarms = net["a"].metric("tamis_alarms_total")
        told = [each for each in byzantine.heard(frames.EPOCH_REFUSED) if frames.body_of(each)[0] == n]
        byzantine.close()
        net["c"].kill()
        with contextlib.suppress(AssertionError):
            net["c"].start()
            until(lambda: net["c"].links_up == {"a"}, 10)
            works += _delivered(net["a"], net["c"], "after") + _delivered(net["c"], net["a"], "after, back")
        tracebacks = net["a"].tracebacks + net["c"].tracebacks
        kept = int(net["c"].epoch_file.read_text())
    shape = "epoch 2^64-1 of another"
    return [
        Figure(shape, "of 4 messages delivered, before and after a restart", "0", works, 4, is_least=True),
        Figure(shape, "tracebacks", "1,503 log lines", tracebacks, 0),
        Figure(shape, "epoch that c stores, in days ahead of the clock", "2 * 10^11", (kept - now_ms()) / 86.4e6, 1),
        Figure(
            shape, "routers ready, alarms and refusals reported", "0 alarms", ready + (alarms > 0) + bool(told), 3, True
        ),
    ]


def _delivered(at: Router, to: Router, word: str) -> int:
    """1 if a message crosses, however long that takes within ten seconds."""
    try:
        with (
            Stranger(*to.clients, f"reader {word}", patience_s=1) as reader,
            Stranger(*at.clients, f"writer {word}", patience_s=1) as writer,
        ):
            reader.subscribe({1: [[["word", EQ, word]]]}, wait=frames.NETWORK)
            for _ in range(10):
                writer.publish({"word": word})
                with contextlib.suppress(TimeoutError):
                    return int(reader.message().attributes["word"] == word)
    except (OSError, Ended):
        pass
    return 0


def not_behind(folder: Path, _scale: float) -> list[Figure]:
    """A neighbour that may speak for itself alone states what an honest router has, and sends messages as if from it,
    while the honest pair exchanges thirty."""
    with Network(folder, "ac", ["ac", "{ends: [a, b], behind: {b: [b]}}"], elsewhere="b") as net:
        net.until_linked("ac")
        net.until_ready("ac")
        byzantine = Neighbour(net["a"].neighbours, "b", now_ms()).join()
        n, works = number("c"), 0
        with Stranger(*net["a"].clients, "a", patience_s=2) as a, Stranger(*net["c"].clients, "c", patience_s=2) as c:
            for each in (a, c):
                each.subscribe({1: [[["n", frames.EXISTS]]]}, wait=frames.NETWORK)
            for turn in range(30):
                epoch, seq = now_ms(), TOP - 1_000 + turn
                byzantine.say(frames.LSA, ["c", epoch, seq, []])
                byzantine.say(frames.LSA, [f"x{turn}", epoch, seq, [[byzantine.number, 1, 1]]])
                said = [n, epoch, seq, True, 0, [], [], NOTHING, 0, False]
                byzantine.say_in_parts(frames.RA, n, epoch, seq, said)
                reply = [number("a"), epoch, turn, [[n, epoch, seq, NOTHING, []]], False, 1, []]
                byzantine.say_in_parts(frames.UR, number("a"), epoch, turn, reply)
                forged = frames.Header(n, epoch, seq, n, time.time_ns(), time.time_ns())
                byzantine.send(frames.data_frame(forged, {"n": -1}, hops=8))
                writer, reader = (a, c) if turn % 2 else (c, a)
                writer.publish({"n": turn})
                with contextlib.suppress(TimeoutError):
                    works += reader.message().attributes["n"] == turn
            forged_got = sum(not each.is_silent(0.2) for each in (a, c))
        network = net["a"].page("/status")["network"]
        [link] = [each for each in network["links"] if each["neighbour"] == "b"]
        tracebacks, alarms = net["a"].tracebacks, net["a"].metric("tamis_alarms_total")
        byzantine.close()
    shape = "a neighbour that speaks for others"
    return [
        Figure(shape, "of 30 messages of an honest pair delivered", "-", works, 30, is_least=True),
        Figure(shape, "forged messages delivered, and routers made up", "-", forged_got + network["routers"] - 3, 0),
        Figure(shape, "of 120 statements refused", "-", link["statements_refused"], 120, is_least=True),
        Figure(shape, "of 30 messages refused", "-", link["refused"], 30, is_least=True),
        Figure(shape, "alarms", "-", alarms, 1, is_least=True),
        Figure(shape, "tracebacks", "-", tracebacks, 0),
    ]


def large_predicate(folder: Path, scale: float) -> list[Figure]:
    """One client's filters are more than one body may hold; a router that starts afterwards has to learn them."""
    count = max(50, int(2_259 * scale))
    with Network(
        folder, "abc", ["ab", "bc"], keys="limits: {memory_bytes: 4294967296, table_bytes_per_client: 2147483648}"
    ) as net:
        net.until_linked()
        client = Stranger(*net["a"].clients, "large", patience_s=120)
        sent_bytes = 0
        for i in range(count):
            filter_ = [
                [f"n{k}", IN, *(f"{i:04}{k:02}{j:02}" + "0123456789abcdef" * 3 + "01234567" for j in range(29))]
                for k in range(16)
            ]
            sent_bytes += len(msgpack.packb(filter_))
            refused = client.subscribe({i: [filter_]})
            assert not refused, (i, refused)
        client.subscribe({count: [[["final", EQ, True]]]}, wait=frames.NETWORK)
        net["c"].kill()
        net["c"].start()
        began_s = time.monotonic()
        with Stranger(*net["c"].clients, "writer") as writer:
            client.patience_s = 0.5
            client.socket.settimeout(0.5)
            back_s = float("inf")
            while back_s == float("inf") and time.monotonic() < began_s + 60:
                writer.publish({"final": True})
                with contextlib.suppress(TimeoutError):
                    client.message()
                    back_s = time.monotonic() - began_s
        client.close()
    shape = f"a predicate of {sent_bytes / 1e6:.0f} MB"
    return [Figure(shape, "s until a router that was started is routed from", "never", back_s, 30)]


def counters(folder: Path, _scale: float) -> list[Figure]:
    """Publishers whose clock goes back, stands at the end of time, or repeats itself."""
    lost, answers = 0, {}
    with Network(folder, "ab", ["ab"]) as net:
        net.until_linked()
        reader = Stranger(*net["b"].clients, "reader", patience_s=2)
        reader.subscribe({1: [[["n", frames.EXISTS]]]}, wait=frames.NETWORK)
        now, steps = time.time_ns(), []
        steps += [("a", "ahead", now + 5 + k) for k in range(5_000)]  # more than a window of them
        steps += [("a", "an hour back", now - HOUR_NS), ("a", "the same again", now + 5_000)]
        steps += [("b", "elsewhere, an hour back", now - HOUR_NS + 1), ("a", "the end of time", TOP)]
        steps += [("a", "a year ahead", now + 24 * 365 * HOUR_NS), ("a", "after that", now + 10_000)]
        for step, (at, word, counter) in enumerate(steps):
            if word == "ahead" and step not in (0, 4_999):
                continue
            with Stranger(*net[at].clients, "pi-7") as client:
                if step == 0:
                    for ahead in range(4_999):
                        client.publish({"n": ahead}, counter=now + 5 + ahead)
                    client.confirmed({"n": 4_999}, counter=now + 5 + 4_999)
                    while reader.message().attributes["n"] != 4_999:
                        pass
                    continue
                answers[word] = _answer(client, step, counter)
            if answers[word] == 0 and word != "ahead":
                with contextlib.suppress(TimeoutError):
                    while reader.message().attributes["n"] != step:
                        pass
                    continue
                lost += 1
        reader.close()
    expected = {"the end of time": {16}, "a year ahead": {16}, "after that": {0}, "the same again": {14}}
    wrong = [word for word, codes in expected.items() if answers[word] not in codes]
    wrong += [word for word, code in answers.items() if code not in (0, 14, 15, 16)]
    return [
        Figure("counters that go back", "acknowledged, and dropped", "all", lost, 0),
        Figure("counters that go back", f"wrong answers {wrong}", "all: done", len(wrong), 0),
    ]


def _answer(client: Stranger, n: int, counter: int) -> int:
    """The code of the refusal; 0: it was taken."""
    try:
        client.confirmed({"n": n}, counter=counter)
    except Refused as refused:
        return refused.code
    return 0


def confirmed_after_a_start(folder: Path, scale: float) -> list[Figure]:
    """Confirmed publishes from the moment on at which a killed router takes clients again."""
    acknowledged: set[int] = set()
    arrived: set[int] = set()
    rounds = max(2, int(5 * scale))
    with Network(folder, "abcde", ["ab", "bc", "cd", "de", "ea"]) as net:
        net.until_linked()
        reader = Stranger(*net["c"].clients, "reader", patience_s=2)
        reader.subscribe({1: [[["n", frames.EXISTS]]]}, wait=frames.NETWORK)
        for round_ in range(rounds):
            net["a"].kill()
            net["a"].start()
            with Stranger(*net["a"].clients, "writer") as writer:
                for k in range(15):
                    n = round_ * 100 + k
                    with contextlib.suppress(Refused):
                        writer.confirmed({"n": n})
                        acknowledged.add(n)
            with contextlib.suppress(TimeoutError):
                while not acknowledged <= arrived:
                    arrived.add(reader.message().attributes["n"])
        reader.close()
    lost = len(acknowledged - arrived)
    return [
        Figure("CONFIRM right after a start", f"of {len(acknowledged)} acknowledged, lost", "6 of 45", lost, 0),
        Figure(
            "CONFIRM right after a start", "acknowledged", "45", len(acknowledged), 15 * rounds * 0.5, is_least=True
        ),
    ]


def tokens(folder: Path, _scale: float) -> list[Figure]:
    """The token that any name may use, wrong ones, and one that is taken back."""
    file = folder / "tokens"
    file.touch(mode=0o600)
    file.write_text("press-1 secret-of-the-press\n* for-everybody-else\n")
    with Network(folder, "r", keys="tokens: tokens") as net:
        router = net["r"]
        owner = Stranger(*router.clients, "press-1", "secret-of-the-press")
        taken_over = _lets_in(router, "press-1", "for-everybody-else")
        if taken_over:
            owner.close()
            owner = Stranger(*router.clients, "press-1", "secret-of-the-press")
        owner.confirmed({"n": 1})
        failures = _failures(router)
        for _ in range(5):
            assert not _lets_in(router, "burglar-77", "wrong")
        counted = _failures(router) - failures
        is_named = any("burglar-77" in line for line in router.log.splitlines())
        file.write_text("* for-everybody-else\n")
        router.send_signal(signal.SIGHUP)
        until(lambda: "settings reloaded" in router.log, 5)
        owner.patience_s = 3
        owner.socket.settimeout(3)
        owner.send(frames.frame(frames.PING, [1]))
        try:
            code = owner.until_ended().code
        except TimeoutError:
            code = None
        owner.close()
        still_in = _lets_in(router, "another", "for-everybody-else")
    return [
        Figure("the token *", "opens a name that has its own", "yes", taken_over, 0),
        Figure("wrong tokens", "of 5 counted", "0", min(counted, 5), 5, is_least=True),
        Figure("wrong tokens", "the name said is in the log", "no", is_named, 1, is_least=True),
        Figure("a token taken back", "its session ends with REVOKED", "goes on", code == 22, 1, is_least=True),
        Figure("a token taken back", "others still get in", "yes", still_in, 1, is_least=True),
    ]


def _lets_in(router: Router, name: str, token: str | None = None) -> bool:
    try:
        Stranger(*router.clients, name, token).close()
    except (Ended, OSError):
        return False
    return True


def _failures(router: Router) -> float:
    """Of admission, under whatever series they are counted."""
    series = router.metrics()
    return sum(value for name, value in series.items() if re.search(r"admission|refused|faults|greeting|auth", name))


def names(folder: Path, _scale: float) -> list[Figure]:
    """Names that a terminal would obey."""
    hostile = ["\x1b]0;owned\x07", "two\nlines", "\u202eevil", "nul\x00", "\x7f", "\u2066x"]
    with Network(folder, "r") as net:
        let_in = sum(_lets_in(net["r"], name) for name in hostile)
        assert _lets_in(net["r"], "größe 東京 \U0001f600")
        raw = sum("\x1b" in line or "\u202e" in line for line in net["r"].log.splitlines())
    return [Figure("names with escapes", "let in, or raw in the log", "6", let_in + raw, 0)]
