"""`tamis.testing` against real routers: what it starts is ready, what it ends is gone, and what went wrong is told."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

import tamis
from tamis import testing
from tamis.testing import EndedBadly, NetworkPlan, NotLinked, NotReady, RouterProcess, blocking, line, link_name, ring
from tamis.testing.process import last_words

WRONG = "routers: {a: {clients: 7}}\n"
RIGHT = "routers: {a: {clients: '127.0.0.1:0', admin: 'unix:a.sock'}}\n"


def is_alive(pid: int) -> bool:
    """Whether a process runs: one that has ended and waits for its parent does not."""
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def ends(pid: int, within_s: float = 5) -> bool:
    """Whether a process ends: the kernel kills one whose parent's thread has ended, and takes a moment."""
    until_s = time.monotonic() + within_s
    while is_alive(pid) and time.monotonic() < until_s:
        time.sleep(0.01)
    return not is_alive(pid)


def heard(address: str, other: str) -> bool:
    """Whether a message published at `address` arrives at `other`."""
    with tamis.blocking.connect(other, patience_s=10) as subscriber:
        wanted = subscriber.subscribe("n = 1", wait="network").start()
        with tamis.blocking.connect(address, patience_s=10) as publisher:
            publisher.publish({"n": 1})
        return isinstance(item := wanted.receive(10), tamis.Message) and item["n"] == 1


# --- plans ------------------------------------------------------------------------------------------------------------


def test_a_line_and_a_ring_link_neighbours() -> None:
    assert line("a").links == ()
    assert line("a", "b", "c").links == (("a", "b", 1), ("b", "c", 1))
    assert ring("a", "b", "c").links == (("a", "b", 1), ("b", "c", 1), ("c", "a", 1))
    assert line("a", limits={"drain_ms": 0}).keys == {"limits": {"drain_ms": 0}}
    assert link_name("b", "a") == link_name("a", "b") == "a-b"


def test_a_ring_of_two_is_refused() -> None:
    with pytest.raises(ValueError, match="three routers or more, not 2"):
        ring("a", "b")


def test_ports_differ_and_nobody_listens_there() -> None:
    ports = {testing.lasting_port() for _ in range(20)} | {testing.free_port()}
    assert len(ports) == 21
    for port in ports:
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_the_last_words_of_a_log_are_its_last_lines(tmp_path) -> None:
    log = tmp_path / "a.log"
    assert last_words(log) == ""
    log.write_text("one\ntwo\nthree\nfour\n")
    assert last_words(log) == "two | three | four"


def test_a_router_that_was_never_started_says_so(tmp_path) -> None:
    router = RouterProcess("a", tmp_path / "a.yaml")
    assert not router.is_running
    with pytest.raises(NotReady, match="has not reported its addresses"):
        _ = router.address
    with pytest.raises(NotReady, match="was never started"):
        _ = router.pid


# --- without asyncio --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_killed_router_comes_back_as_the_same(tmp_path) -> None:
    with blocking.running(tmp_path, line("a", "b")) as network:
        network.until_linked()
        address, pid = network["b"].address, network["b"].pid
        network["b"].kill()
        assert not network["b"].is_running
        assert not is_alive(pid)
        network["b"].start()
        assert (network["b"].address, network["b"].said["router"]) == (address, "b")
        network.until_linked()
        assert heard(network["a"].address, network["b"].address)
        pids = [router.pid for router in network.routers.values()]
    assert not any(map(is_alive, pids))


@pytest.mark.slow
def test_a_link_is_cut_and_restored(tmp_path) -> None:
    plan = line("a", "b", is_proxied=True, keepalive={"hold_ms": 1_000, "ping_ms": 250})
    with blocking.running(tmp_path, plan) as network:
        network.until_linked()
        network.set_link("b", "a", "cut")
        wait_until_apart(network)
        with pytest.raises(NotLinked, match="not linked after 1 s: 2 routers run; a knows of 1, b knows of 1"):
            network.until_linked(1)
        network.set_link("a", "b", "open")
        network.until_linked()
        with pytest.raises(ValueError, match="no link a-c; one of a-b"):
            network.set_link("a", "c", "cut")


def wait_until_apart(network: blocking.BlockingNetwork) -> None:
    end_s = time.monotonic() + 20
    while any(each["network"]["routers"] != 1 for each in network.status().values()):
        assert time.monotonic() < end_s
        time.sleep(0.05)


@pytest.mark.slow
def test_links_without_a_proxy_cannot_be_cut(tmp_path) -> None:
    with blocking.running(tmp_path, line("a")) as network:
        network.until_linked()
        with pytest.raises(ValueError, match="is_proxied=True"):
            network.set_link("a", "b", "cut")


@pytest.mark.slow
def test_a_paused_router_moves_nothing_until_it_goes_on(tmp_path) -> None:
    with blocking.running(tmp_path, line("a", "b")) as network:
        network.until_linked()
        network["b"].pause()
        assert set(network.status()) == {"a"}
        network["b"].resume()
        assert heard(network["a"].address, network["b"].address)


@pytest.mark.slow
def test_what_does_not_start_says_why(tmp_path) -> None:
    (tmp_path / "one.yaml").write_text(WRONG)
    with (
        pytest.raises(NotReady, match=r"router a ended with 2: .*one.yaml:1:24: routers.a.clients: must be host:port"),
        blocking.started(tmp_path / "one.yaml", "a"),
    ):
        pass


@pytest.mark.slow
def test_an_error_of_the_block_is_the_one_that_is_raised(tmp_path) -> None:
    (tmp_path / "one.yaml").write_text(RIGHT)
    pids: list[int] = []

    def failing() -> None:
        with blocking.started(tmp_path / "one.yaml", "a") as router:
            pids.append(router.pid)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert not is_alive(pids[0])


@pytest.mark.slow
def test_a_router_that_ends_badly_is_told(tmp_path) -> None:
    """Its command here is a shell that runs it and then fails, whatever the router said."""
    (tmp_path / "one.yaml").write_text(RIGHT)
    failing = ("sh", "-c", 'trap "" TERM; "$@" & wait $!; kill -TERM $!; wait $!; exit 9', "sh")
    with pytest.raises(EndedBadly, match="router a ended with 9"):
        with blocking.started(tmp_path / "one.yaml", "a", prefix=failing) as router:
            os.kill(router.said["pid"], 15)


def test_routers_that_were_being_started_are_gone_after_ctrl_c(tmp_path) -> None:
    """Ctrl-C comes while a router has not said yet that it is ready: its command is one that never will."""
    begun, pid = tmp_path / "begun", tmp_path / "pid"
    code = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); os.rename(*sys.argv[1:3])"
    code += "; time.sleep(60)"
    late = NetworkPlan(("a",), prefix=(sys.executable, "-c", code, str(begun), str(pid)))

    def interrupt() -> None:
        while not pid.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt), blocking.running(tmp_path, late):
        pass
    assert ends(int(pid.read_text()))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_routers_do_not_outlive_a_parent_that_is_ended(tmp_path, number) -> None:
    code = (
        "import sys, time, pathlib\n"
        "from tamis.testing import blocking, line\n"
        "with blocking.running(pathlib.Path(sys.argv[1]), line('a', 'b', is_proxied=True)) as network:\n"
        "    print(network['a'].pid, network['b'].pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdout=pipe, stderr=null, text=True) as parent:  # noqa: S603 - our own
        assert parent.stdout
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.send_signal(number)
    end_s = time.monotonic() + 10
    while any(map(is_alive, pids)):
        assert time.monotonic() < end_s
        time.sleep(0.02)


# --- with asyncio -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_same_with_asyncio(tmp_path) -> None:
    seen: list[tuple[str, str]] = []
    plan = ring("a", "b", "c", is_proxied=True)
    async with testing.running(tmp_path, plan, lambda link, what, _at: seen.append((link, what))) as network:
        await network.until_linked()
        assert {link for link, what in seen if what == "up"} == {"a-b", "b-c", "a-c"}
        assert await network["a"].leave() == 0
        await network.until_linked()
        assert (await network["b"].ask("/status"))["network"]["routers"] == 2
        await network["a"].start()
        await network.until_linked()


@pytest.mark.slow
async def test_a_router_of_ones_own_file_with_asyncio(tmp_path) -> None:
    (tmp_path / "one.yaml").write_text("routers: {a: {clients: 'unix:a.clients', admin: '127.0.0.1:0'}}\n")
    async with testing.started(tmp_path / "one.yaml", "a", options=("--insecure",)) as router:
        async with tamis.connect(router.address) as client:
            await client.publish({"n": 1}, confirm=True)
        assert (await router.ask("/status"))["router"] == "a"
        assert (await router.ask("/readyz"))["ready"] is True
        with pytest.raises(OSError, match="router a refused /nowhere: "):
            await router.ask("/nowhere")


@pytest.mark.slow
async def test_a_network_is_at_rest_when_earlier_trees_are_out_of_force(tmp_path) -> None:
    # Two links of one keepalive: a topology file with an alias in it is refused.
    async with testing.running(tmp_path, replace(line("a", "b", "c"), keepalive={"hold_ms": 20_000})) as network:
        await network.until_linked()
        with pytest.raises(NotLinked, match="uses earlier trees for"):
            await network.until_at_rest(0.1, patience_s=0.0)
        network["c"].send_signal(signal.SIGSTOP)
        with pytest.raises(NotLinked, match="c does not answer"):
            await network.until_at_rest(0.1, patience_s=0.0)
        network["c"].resume()
        await network.until_at_rest(0.1, patience_s=20.0)
        assert all(each["network"]["earlier_trees_s"] == 0 for each in (await network.status()).values())
