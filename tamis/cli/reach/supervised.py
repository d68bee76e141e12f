"""The reports of this machine's supervisors about routers: whether one is supervised, and its history.

Law: a router is identified by its topology file, or by the address of administration on which it listens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.protocol.errors import TamisError

if TYPE_CHECKING:
    from tamis.router.supervisor.state import NetworkState, RouterState


@dataclass(frozen=True, slots=True)
class Supervised:
    """One router of a running `tamis up FILE`."""

    file: str
    router_id: str
    state: RouterState

    def form(self) -> dict[str, Any]:
        kept = ("state", "since_s", "restarts", "pause_s", "exit_code", "last_words")
        return {"file": self.file} | {key: value for key, value in self.state.form().items() if key in kept}

    def lines(self) -> Iterator[str]:
        """Return sentences about the router besides its state."""
        from tamis.cli.reach.network_view import ending, in_words
        from tamis.router.supervisor.life import ProcessState

        state, restarts = self.state, self.state.restarts
        if state.state is ProcessState.READY:
            if restarts:
                times = "once" if restarts == 1 else f"{restarts} times"
                yield f"{self.router_id} was restarted {times}: its last process {ending(state)}"
            return
        yield f"{self.router_id} is {in_words(state)}"
        if state.state in (ProcessState.STOPPED, ProcessState.FAILED):
            yield f"  tamis start {self.file} {self.router_id}    restarts it"
        if state.state is not ProcessState.STOPPED:
            yield f"  tamis logs {self.file} --router {self.router_id} -n 20    shows its log"


def supervised(target: str | None, addresses: Sequence[str | None]) -> dict[str, Supervised]:
    """Return the routers that run here: by their ids if `target` is a topology file, otherwise by the addresses of
    their administration, as far as these are in `addresses`."""
    if target is not None and Path(target).is_file():
        return dict(_of_file(target))
    wanted = {_bare(address) for address in addresses if address is not None}
    found = {}
    for network in running_networks():
        for router_id, router in network.routers.items():
            for address in map(_bare, router.admin):
                if address in wanted:
                    found[address] = Supervised(network.file, router_id, router)
    return found


def running_networks() -> Iterator[NetworkState]:
    """Return the routers of each `tamis up` of this user; none if the router is not installed."""
    try:
        from tamis.router.supervisor.state import StateFolder
    except ModuleNotFoundError:  # only the client is installed
        return
    for folder in StateFolder.all():
        try:
            network = folder.read()
        except TamisError:  # a supervisor of another version
            continue
        if network is not None and network.is_up:
            yield network


def _of_file(file: str) -> Iterator[tuple[str, Supervised]]:
    from tamis.router.supervisor.state import StateFolder

    network = StateFolder.of(file).read()
    if network is not None and network.is_up:
        for router_id, router in network.routers.items():
            yield router_id, Supervised(file, router_id, router)


def _bare(address: str) -> str:
    return address.removeprefix("http://")
