"""The `tamis` command.

Law: results go to stdout, everything else to stderr. The exit code is 0 for success, 1 for a failure, 2 for misuse, and
130 after Ctrl-C; it is 0 if the reader closes the output (`| head`). A failure is printed as `Error: sentence`. A
command is imported when it is named, which keeps start-up short: its module has its name, is in a folder of `_ROOMS`,
and holds it as `command`, a function that returns the exit code.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from tamis.cli.misuse import tell
from tamis.cli.old_words import renewed
from tamis.protocol.errors import Refused, TamisError
from tamis.protocol.nearest import did_you_mean

_ROOMS = {
    "operate": (
        "Run routers and gateways",
        ("up", "down", "start", "stop", "restart", "reload", "router", "gateway", "logs", "records"),
    ),
    "messages": ("Send and receive", ("pub", "sub", "request", "respond")),
    "durable": ("Durable subscriptions", ("durable",)),
    "network": ("Look at a network", ("status", "top", "show", "filters", "space")),
    "delivery": ("Follow a message", ("trace", "explain", "unmatched")),
    "topology": ("Write topology files", ("example", "check", "schema", "compose", "kubernetes")),
    "access": ("Who may do what", ("access", "token", "audit")),
    "lab": ("Analyze and measure", ("analyze", "match", "translate", "simulate", "bench", "reproduce")),
    "reach": ("Set up this shell", ("context", "completion")),
}
"""By folder, in the order of the help page: what its commands are for, and their names."""
_MODULES = {
    **{name: f"tamis.cli.{room}.{name}" for room, (_, names) in _ROOMS.items() for name in names},
    "completion": "tamis.cli.completion",
}
COMMANDS = tuple(name for _, names in _ROOMS.values() for name in names)

_EXAMPLE = """\b
Examples:
  tamis up network.yaml
  tamis sub 'severity > 2 and class = "alert"'
  tamis pub class=alert severity=6 --payload 'disk full'
  tamis explain 'severity > 2 and device ^= "web"' severity=6 device=web-3
"""


class _Commands(click.Group):
    """The commands by name, each imported at first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = importlib.import_module(_MODULES[cmd_name]).command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        longest = max(map(len, COMMANDS))
        width = formatter.width - 6 - longest
        for title, names in _ROOMS.values():
            found = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(f"{name:{longest}}", one.get_short_help_str(width)) for name, one in found if one])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            ctx.fail(f"no command {name!r}{did_you_mean(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _OutputClosed from None


class _OutputClosed(Exception):
    """Raised when the reader has closed the output. (click would turn a BrokenPipeError into an exit code.)"""


@click.group(cls=_Commands, epilog=_EXAMPLE, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="tamis", message="%(prog)s %(version)s")
def root() -> None:
    """A content-based network: messages go to everyone whose predicate they satisfy."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] in (["help"], ["version"]):  # as in many other programs
        words = [*words[1:], f"--{words[0]}"]
    words = renewed(words)
    try:
        code = root.main(args=words, prog_name="tamis", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        tell(error, words, root)
        return error.exit_code
    except TamisError as error:  # an error that the command has not described itself
        click.echo(f"Error: {error}", err=True)
        return 2 if isinstance(error, Refused) else 1
    except (click.Abort, KeyboardInterrupt):
        return 130
    except (_OutputClosed, BrokenPipeError):
        _discard_output()
        return 0
    except OSError as error:  # such as a full disk or a file that was removed: the message of the system describes it
        _discard_output()
        click.echo(f"Error: {error}", err=True)
        return 1
    except SystemExit as done:  # click exits this way after a completion request and a closed pipe
        return done.code if isinstance(done.code, int) else 1
    return code if isinstance(code, int) else 0


def _discard_output() -> None:
    """Redirect the output, since buffered output has no reader and is flushed at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
