"""Three rabbitmq-servers in a cluster, on one disk.

Law: they share an epmd and a cookie of their own, which go with the folder; nothing is measured before each has joined.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from tamis.bench.router.brokers.daemons import BROKERS, written
from tamis.bench.router.brokers.process import NotStarted, Running, running

JOIN_S: Final = 60


@contextmanager
def rabbitmq_cluster(program: str, folder: Path, names: Sequence[str]) -> Iterator[list[Running]]:
    """Start a server for each name, one after the other: each joins those that are there."""
    written(folder / ".erlang.cookie", ["bench"]).chmod(0o400)
    shared: dict[str, str] = {"HOME": str(folder)}
    peers = [f"cluster_formation.classic_config.nodes.{n} = {name}@localhost" for n, name in enumerate(names, 1)]
    with ExitStack() as stack:
        members: list[Running] = []
        for name in names:
            (own := folder / name).mkdir()
            launch = BROKERS["rabbitmq"].launch(program, own)
            if not members and launch.helper is not None:
                shared |= {"ERL_EPMD_PORT": str(launch.helper.port)}
                stack.enter_context(running(launch.helper, own))
            environment = {**launch.environment, **shared, "RABBITMQ_NODENAME": f"{name}@localhost"}
            with Path(environment["RABBITMQ_CONFIG_FILE"]).open("a") as settings:
                settings.write("\n".join(["cluster_formation.peer_discovery_backend = classic_config", *peers, ""]))
            member = replace(launch, helper=None, environment=environment)
            members.append(stack.enter_context(running(member, own)))
        _await_members(program, environment, len(names))
        yield members


def _await_members(program: str, environment: Mapping[str, str], count: int) -> None:
    """Wait until `count` servers are running in the cluster."""
    command = [str(Path(program).with_name("rabbitmqctl")), "--timeout", str(JOIN_S), "await_online_nodes", str(count)]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise NotStarted(f"the servers of rabbitmq are no cluster within {JOIN_S} s: {done.stderr.strip()}")
