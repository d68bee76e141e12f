"""`tamis router`: run one router in the foreground."""

from __future__ import annotations

import gc
import os

import click

from tamis.cli.extras import router_extra

_EXAMPLE = """\b
Example:
  $ tamis router --topology configs/topologies/single.yaml --id a
  router a is ready: clients tamis://127.0.0.1:7400, admin http://127.0.0.1:7600
"""


@click.command("router", epilog=_EXAMPLE)
@click.option(
    "--topology", "file", required=True, type=click.Path(exists=True, dir_okay=False), help="The topology file."
)
@click.option("--id", "router_id", required=True, help="The router of the file to run.")
@click.option("--insecure", is_flag=True, help="Listen on addresses open to others although clients need no token.")
@click.option("--json-logs", is_flag=True, help="Print logs, and the line that reports readiness, as JSON objects.")
def command(file: str, router_id: str, insecure: bool, json_logs: bool) -> int:
    """Run one router of a topology until it is stopped.

    Prints one line on stdout when it listens; logs go to stderr. SIGTERM or Ctrl-C drains: clients are notified and
    queues flushed; a second signal ends at once. SIGHUP reads the file again. The exit code is 0 if everything was
    flushed, 1 if data was left or the router could not start.
    """
    gc.disable()  # until it has started: objects made by then are permanent, and every collection would scan them
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # the search for plugins reads every installed package
    with router_extra("routers"):
        from tamis.router.daemon.daemon import DaemonOptions, serve
    return serve(DaemonOptions(file, router_id, insecure, json_logs))
