"""Start routers in tests, as processes of their own on this machine, and let them fail.

    async with testing.running(folder, testing.line("a", "b", "c")) as network:
        await network.until_linked()
        await network["b"].kill()

`testing.blocking` has the same without asyncio; docs/how-to/test-your-program.md shows both, and a fixture of pytest.

    errors    what goes wrong                           ports     where routers listen
    process   a child that ends with its parent         router    one router: started, killed, paused, asked
    links     links that are cut and go dark            network   routers and their links, by a plan
    proxy     the process that links run through        blocking  the same for code without an event loop

Law: there is one way to start a router: the supervisor's command line (`router_command`), which `tamis up` runs, and
with it `make run`. Nothing that is started here outlives the block that started it: a router dies with its parent, the
proxy with its standard input.
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
