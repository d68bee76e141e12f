"""The trail of a message, as `tamis trace` and `tamis trace --dry-run` print it.

Law: each step of the message is one line, below the step before it; a router that has not answered has a line, too.
Routers and clients are printed by name if it is known, and by number otherwise.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from tamis.cli.network.strategy_lines import message_by_root
from tamis.cli.reach.admin import AdminTarget, Command, NoAnswer, admin_token_option, routers
from tamis.cli.reach.connecting import access, refusals, split_addresses
from tamis.cli.reach.events import message_of
from tamis.cli.tables import columns
from tamis.client.trail import AnyReport, Trail, Way, way_of
from tamis.protocol.shown import shown
from tamis.protocol.values import Value
from tamis.protocol.wire.numbers import stable_number

if TYPE_CHECKING:
    from tamis.blocking import Client

SHOWN_MAX: Final = 5
"""The most names in one cell of a table; --json has all that the report has."""


def router_option(command: Command) -> Command:
    """Add --router, and the options for the administration of these routers."""
    asked = click.option(
        "--router",
        "target",
        type=click.Path(),
        metavar="TARGET",
        help="Request names of clients and texts of filters from these routers.",
    )
    return asked(admin_token_option(command))


timeout_option = click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Wait this long for routers that do not answer.",
)


class Names:
    """The names of routers and clients, by number; and the texts and worker groups of subscriptions, by the number of
    their client and their id."""

    def __init__(self, *names: str) -> None:
        self._names = {stable_number(name): name for name in names}
        self._texts: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
        self._groups: dict[tuple[int, int], str] = {}
        self.by_root: dict[str, str | None] = {}
        """`class` and `root` of the message, if routers forward by roots and one of them was queried."""

    def hear(self, name: str) -> None:
        self._names[stable_number(name)] = name

    def ask(self, routers: Sequence[AdminTarget], attributes: Mapping[str, Value]) -> None:
        """Query the matching subscriptions and their clients; a router that does not answer leaves numbers."""
        body = json.dumps(attributes).encode()
        for router in routers:
            self.hear(router.name)
            try:
                answer = router.ask("/explain", body)
            except NoAnswer as error:
                click.echo(str(error), err=True)
                continue
            self.by_root = answer.get("by_root") or self.by_root
            for item in answer["filters"]:
                if item.get("durable"):  # reports have its name
                    continue
                self.hear(item["client"])
                subscription = stable_number(item["client"]), item["subscription"]
                self._texts[subscription].append(item["filter"])
                if item.get("group"):  # routers of earlier versions do not send it
                    self._groups[subscription] = item["group"]

    def of(self, number: int) -> str:
        return self._names.get(number, f"{number:016x}")

    def text(self, issuer: int, id_: int) -> str | None:
        """Return the matching filters of a subscription; None if they are unknown."""
        texts = self._texts.get((issuer, id_))
        return " or ".join(texts) if texts else None

    def group(self, issuer: int, id_: int) -> str | None:
        """Return the worker group of a subscription; None if it has none, or it is unknown."""
        return self._groups.get((issuer, id_))

    def subscription(self, client: int, id_: int) -> str:
        text, group = self.text(client, id_), self.group(client, id_)
        who = self.of(client) if group is None else f"{self.of(client)} for group {group}"
        return f"{who}/{id_}" if text is None else f"{who}: {text}"


Steps = Iterator[tuple[str, Way]]


def steps(trail: Trail[AnyReport]) -> Steps:
    """Yield, depth first, the prefix of the line of each router, and the step to that router. Each step is yielded
    once, whatever the reports contain."""
    seen: set[Way] = set()
    roots = [] if trail.entry is None else [trail.entry]
    for root in (*roots, *map(way_of, trail.reports)):  # those with an unknown route come last
        if root not in seen:
            yield "", root
            yield from _below(trail, root, "", seen)


def _below(trail: Trail[AnyReport], way: Way, indent: str, seen: set[Way]) -> Steps:
    seen.add(way)
    onward = [each for each in trail.onward(way) if each not in seen]
    for left, each in zip(reversed(range(len(onward))), onward, strict=True):
        yield f"{indent}{'├─ ' if left else '└─ '}", each
        yield from _below(trail, each, f"{indent}{'│  ' if left else '   '}", seen)


def followed(
    words: Sequence[str],
    who: tuple[str | None, str | None, str | None],
    target: str | None,
    dialect: str | None,
    follow: Callable[[Client, dict[str, Value]], Trail[AnyReport]],
) -> tuple[Trail[AnyReport], Names]:
    """Query the network; `words` are addresses and attributes, or an event of a dialect, `who` are the arguments of
    `access` besides the addresses."""
    addresses, attribute_words = split_addresses(words)
    if not attribute_words:
        raise click.UsageError("Missing argument 'ATTRIBUTE'; {} is a message without attributes")
    with refusals():
        asked = routers(target) if target is not None else []
        attributes = message_of(attribute_words, dialect)
        with access(addresses, *who).blocking_client() as client:
            trail = follow(client, attributes)
    names = Names(client.name, *(report.router for report in trail.reports))
    names.ask(asked, attributes)
    return trail, names


Form = dict[str, Any]


def show(
    trail: Trail[AnyReport],
    names: Names,
    head: Sequence[str],
    row: Callable[[AnyReport], Sequence[str]],
    form: Callable[[AnyReport], Form] | None,
) -> None:
    """Print a table with `row` after the name of each router; with `form`, print JSON lines instead."""
    rows = []
    for lead, way in steps(trail):
        report = trail.report(way)
        if form is not None:
            step = {
                "router": names.of(way.router),
                "came_from": names.of(way.came_from),
                "answered": report is not None,
            }
            step |= names.by_root
            click.echo(json.dumps(step if report is None else step | form(report)))
        cells = row(report) if report is not None else ["no answer", *[""] * (len(head) - 1)]
        rows.append((lead + names.of(way.router), *cells))
    if form is None:
        click.echo(columns(("router", *head), rows))
        if names.by_root:
            click.echo(shown(message_by_root(names.by_root)))


def some(words: Sequence[str], total: int, between: str = " ") -> str:
    """Return the first few, and how many more there are."""
    shown = between.join(words[:SHOWN_MAX])
    more = total - min(len(words), SHOWN_MAX)
    return f"{shown}{between}and {more:,} more" if more > 0 else shown


def end(trail: Trail[AnyReport], names: Names, timeout_s: float) -> int:
    """Return the exit code, and print a sentence about missing reports."""
    if trail.is_complete:
        return 0
    within = f"within {timeout_s:g} s"
    for way in trail.unanswered:
        text = (
            f"no answer {within} from {names.of(way.router)}, to which {names.of(way.came_from)} forwarded the message"
        )
        click.echo(shown(text), err=True)
    if trail.entry is None:
        click.echo(f"no report {within} from the router of this client", err=True)
    elif not trail.unanswered:
        click.echo(
            "a router forwarded the message to more routers than its report lists: some answers may be missing",
            err=True,
        )
    return 1
