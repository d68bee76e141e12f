"""`tamis unmatched`: show messages that matched no subscription."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import click

from tamis.cli.reach.admin import AdminTarget, NoAnswer, admin_token_option, routers_called
from tamis.protocol.message_text import format_attributes
from tamis.protocol.shown import shown

_EXAMPLE = """\b
Examples:
  tamis unmatched
  tamis unmatched network.yaml --router a -f
  tamis unmatched 127.0.0.1:7600 --lines 1000 --json | jq .attributes
"""
FOLLOW_S: Final = 0.5
_OFF: Final = (
    "unmatched messages are not stored; write `unmatched: {share: 1}` into the topology file (1: all of them, 0.01: "
    "one in a hundred) and reload it: `tamis reload FILE`, or SIGHUP"
)


@click.command("unmatched", epilog=_EXAMPLE)
@click.argument("target", required=False, type=click.Path())
@click.option("--router", "names", multiple=True, metavar="NAME", help="Query only this router; may be repeated.")
@click.option(
    "--lines", "-n", type=click.IntRange(min=1), default=20, show_default=True, help="Messages of each router."
)
@click.option("--follow", "-f", is_flag=True, help="Continue with new messages, until Ctrl-C.")
@admin_token_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each message.")
def command(target: str | None, names: tuple[str, ...], lines: int, follow: bool, as_json: bool) -> int:
    """Show recent messages that matched no subscription. Routers store the latest of them.

    If `unmatched` is set in the topology file, a router stores a share of the messages that its clients published and
    that matched no filter of a client or another router. Payloads are not stored.

    TARGET is as for `tamis status`. The exit code is 1 if a router did not answer or stores no unmatched messages.
    """
    asked = [_Asked(router) for router in routers_called(target, names)]
    code = 0
    for each in asked:
        try:
            each.start(lines)
            _show(each, as_json)
        except NoAnswer as error:
            click.echo(str(error), err=True)
            code = 1
    while follow and any(each.is_on for each in asked):
        time.sleep(FOLLOW_S)
        for each in asked:
            if each.is_on:
                _follow(each, as_json)
    return code


class _Asked:
    """A router that is queried repeatedly, and the number of the last message that was shown."""

    def __init__(self, router: AdminTarget) -> None:
        self.router = router
        self.is_on = False
        self.is_silent = False
        self._after = 0
        self._has_begun = False

    def start(self, lines: int) -> None:
        """Start with the latest `lines` messages; NoAnswer if the router stores none."""
        head = self.router.ask("/unmatched", limit=1, cursor=2**64 - 1)
        if not head["share"]:
            raise NoAnswer(f"{self.router.name}: {_OFF}")
        self.is_on = True
        self._after = max(0, head["latest"] - lines)

    def messages(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Return the messages since the last call, each with the number of messages that are missing before it."""
        more: int | None = self._after
        while more is not None:
            page = self.router.ask("/unmatched", limit=500, cursor=self._after)
            if page["latest"] < self._after:  # the router was restarted, and counts from 1
                self._after, self._has_begun = 0, False
                continue
            for form in page["unmatched"]:
                missed = form["n"] - self._after - 1 if self._has_begun else 0
                self._after, self._has_begun = form["n"], True
                yield form, missed
            more = page["next"]


def _follow(asked: _Asked, as_json: bool) -> None:
    """Print new messages; report a router that does not answer once, and query it again."""
    try:
        _show(asked, as_json)
        asked.is_silent = False
    except NoAnswer as error:
        if not asked.is_silent:
            click.echo(str(error), err=True)
        asked.is_silent = True


def _show(asked: _Asked, as_json: bool) -> None:
    for form, missed in asked.messages():
        if missed:
            click.echo(f"{asked.router.name}: {missed:,} more were overwritten before they could be shown", err=True)
        when = datetime.fromtimestamp(form.pop("time_ns") / 1e9, UTC).isoformat(timespec="milliseconds")
        if as_json:
            click.echo(json.dumps({"router": asked.router.name, "time": when.replace("+00:00", "Z")} | form))
        else:
            click.echo(shown(_text(asked.router.name, when.replace("+00:00", "Z"), form)))


def _text(router: str, when: str, form: dict[str, Any]) -> str:
    """Return when and where the message was published, by which client, and its attributes; the number of the client if
    it has left."""
    publisher = form["client"] or form["id"].partition("-")[0]
    said = form["text"] + " ..." if form["attributes"] is None else format_attributes(form["attributes"])
    payload = f" (payload of {form['payload_bytes']:,} bytes)" if form["payload_bytes"] else ""
    return f"{when} {router} {publisher}: {said}{payload}"
