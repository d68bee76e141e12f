"""Connections and descriptors: who takes the places of others."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.attack.figure import Figure
from tests.stranger.client import Ended, Stranger
from tests.stranger.routers import Network, Router, until

GREETING_S = 0.05
"""Between two honest greetings."""
DIALLING_S = 5.0
BACK_S = 1.5
CLIENTS = 80


@contextlib.contextmanager
def flood(router: Router, seconds: float, at_once: int, sources: list[str]) -> Iterator[None]:
    host, port = router.clients
    words = [host, str(port), str(seconds), str(at_once), *sources]
    command = [sys.executable, "-m", "tests.attack.flood", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as process:  # noqa: S603
        try:
            yield
        finally:
            process.kill()


def honest_share(router: Router, seconds: float) -> float:
    """Of greetings from 127.0.0.1 that get in while a client waits: the project's own gives an address 5 seconds."""
    tried = let_in = 0
    ends_s = time.monotonic() + seconds
    while time.monotonic() < ends_s:
        tried += 1
        with contextlib.suppress(OSError, Ended), Stranger(*router.clients, f"honest-{tried}", patience_s=DIALLING_S):
            let_in += 1
        time.sleep(GREETING_S)
    return let_in / tried


def strangers_at_the_door(folder: Path, scale: float) -> list[Figure]:
    """Sockets that never greet, from one address and from 1,000, while honest clients greet from another."""
    figures, connections = [], max(200, int(10_000 * scale))
    seconds, before = max(3.0, 20 * scale), "0.01 (3 of 217, limit 200)"
    many = [f"127.{1 + i // 250}.{i % 250}.2" for i in range(1_000)]
    for number, (sources, word) in enumerate(((["127.0.0.2"], "one address"), (many, "1,000 addresses"))):
        place = folder / str(number)
        place.mkdir()
        with Network(place, "r", keys=f"limits: {{connections: {connections}}}") as net:
            at_once = min(int(connections * 1.25), 15_000)
            with flood(net["r"], seconds + 3, at_once, sources):
                time.sleep(1.5)
                share = honest_share(net["r"], seconds)
            assert net["r"].tracebacks == 0, net["r"].first_traceback
        shape = f"{at_once} silent sockets, {word}"
        figures.append(Figure(shape, "share of honest greetings let in", before, share, 0.9, is_least=True))
    return figures


def links_when_all_is_taken(folder: Path, _scale: float) -> list[Figure]:
    """Clients hold every place of both ends of a link, and the link is interrupted."""
    places = 60
    with Network(folder, "ab", ["ab"], keys=f"limits: {{connections: {places}}}") as net:
        net.until_linked()
        held = [*_fill(net["a"], places), *_fill(net["b"], places)]
        net["b"].send_signal(signal.SIGSTOP)
        time.sleep(1.6)
        held += _fill(net["a"], 3)
        net["b"].send_signal(signal.SIGCONT)
        back_s = _back(net)
        for each in held:
            each.close()
    return [Figure("links, no place left", "s until the link is back", "never", back_s, BACK_S)]


def links_without_descriptors(folder: Path, _scale: float) -> list[Figure]:
    """Use up the descriptors; a new client is refused because the router is full."""
    with Network(folder, "ab", ["ab"]) as net:
        for name in "ab":
            net[name].terminate()
            net[name].before = ("sh", "-c", 'ulimit -n 64; exec "$0" "$@"')
            net[name].start()
        net.until_linked()
        held = [each for name in "ab" for each in _come(net[name], CLIENTS)]
        let_in = sum(each.filters_max > 0 for each in held)
        told = sum(each.error is not None and each.error[0] == 21 for each in held)
        untold = len(held) - let_in - told
        net["b"].send_signal(signal.SIGSTOP)
        time.sleep(1.6)
        net["b"].send_signal(signal.SIGCONT)
        back_s = _back(net)
        for each in held:
            each.close()
    return [
        Figure("ulimit -n 64", "s until the link is back", "never", back_s, BACK_S),
        Figure(
            "ulimit -n 64",
            f"of {len(held)} clients neither accepted nor refused with FULL ({let_in} accepted)",
            "all past 44",
            untold,
            8,
        ),
    ]


def _come(router: Router, count: int) -> list[Stranger]:
    """All stay, those too who are neither let in nor refused. After some that wait in vain the rest only say HELLO."""
    come, waited = [], 0
    for number in range(count):
        come.append(Stranger(*router.clients, f"client-{number}", greet=False, patience_s=0.25))
        if waited < 6:
            try:
                come[-1].greet()
            except TimeoutError:
                waited += 1
            except Ended:
                pass
        else:
            come[-1].send(come[-1].hello())
    return come


def _fill(router: Router, count: int) -> list[Stranger]:
    held = []
    for number in range(count):
        with contextlib.suppress(OSError, Ended):
            held.append(Stranger(*router.clients, f"client-{number}-{time.time_ns()}", patience_s=2))
    return held


def _back(net: Network) -> float:
    """From now on, until both ends say that the link is up; infinite where that takes ten seconds."""
    try:
        return until(lambda: _up(net["a"]) == {"b"} and _up(net["b"]) == {"a"}, patience_s=10)
    except AssertionError:
        return float("inf")


def _up(router: Router) -> set[str]:
    try:
        return router.links_up
    except OSError:
        return set()
