"""Start routers in tests, as processes on this machine, and make them fail.

    async with testing.running(folder, testing.line("a", "b", "c")) as network:
        await network.until_linked()
        await network["b"].kill()

`testing.blocking` has the equivalent without asyncio; docs/how-to/test-your-program.md shows both, and a fixture of
pytest.

    errors    the errors                                ports     free ports for routers
    process   a child that ends with its parent         router    one router: started, killed, paused, queried
    links     links that are cut and go dark            network   routers and their links, by a plan
    proxy     the process that links run through        blocking  a wrapper for code without an event loop

Law: routers are started in one way only: by the supervisor's command line (`router_command`), which `tamis up` and
`make run` use, too. No process outlives the block that started it: a router dies with its parent, the proxy with its
standard input.
"""

from tamis.testing import blocking
from tamis.testing.errors import EndedBadly, NotLinked, NotReady, RouterTrouble
from tamis.testing.network import NetworkPlan, RouterNetwork, line, link_name, ring, running
from tamis.testing.ports import free_port, lasting_port
from tamis.testing.router import RouterProcess, started

__all__ = [
    "NetworkPlan",
    "line",
    "ring",
    "running",
    "started",
    "blocking",
    "RouterNetwork",
    "RouterProcess",
    "link_name",
    "RouterTrouble",
    "NotReady",
    "NotLinked",
    "EndedBadly",
    "free_port",
    "lasting_port",
]
