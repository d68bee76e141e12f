"""What each of paper 003's algorithms costs on a tree of brokers, in exact expectations. `python -m
tamis.papers.models.das_costs` prints its Table 1 in figures.

Law: no router takes part, and nothing is measured: a figure is the sum over all events with their chances, as a
fraction. Frames and hops are those between brokers; what goes between a broker and its own clients is the same in all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import click

from tamis.papers.models.das import (
    ALGORITHMS,
    Algorithm,
    DasSetting,
    Event,
    Notice,
    Profile,
    Spreading,
    Where,
    events,
)
from tamis.papers.models.das_tree import Broker, BrokerTree, Link


@dataclass(frozen=True)
class Costs:
    """Means over events, unless said otherwise."""

    frames: Fraction
    """Events and notifications that cross a link between brokers."""
    link_frames: dict[Link, Fraction]
    """Those, by link and direction."""
    link_most: int
    """The most of them on one link, for one event."""
    direct: Fraction
    """Notifications that a broker takes to a client of another one, by a connection made for it."""
    evaluated: Fraction
    """Profiles that an event is compared with, at all brokers."""
    evaluated_busiest: Fraction
    """Those at the broker that has most of them."""
    compared_most: int
    """The most profiles that one broker compares one event with."""
    visits_busiest: Fraction
    """The share of events that are filtered at the broker which filters most."""
    stored: int
    """Profiles at all brokers; no mean."""
    stored_busiest: int
    subscribe: Fraction
    """Statements between brokers as one profile comes, the others being there; a mean over profiles."""
    unsubscribe: Fraction
    """Those as one goes: what is withdrawn, and what that had covered."""
    unsubscribe_most: int
    hops: Fraction
    """Links between brokers from the publisher until a notification leaves them; a mean over notifications."""


@dataclass
class Passage:
    """What one event does."""

    filtered: set[Broker]
    """Where it is compared with profiles."""
    frames: Counter[Link] = field(default_factory=Counter)
    direct: int = 0
    hops: list[int] = field(default_factory=list)


# --- an event


def _addressed(algorithm: Algorithm, event: Event) -> list[Broker]:
    """Return the broker of each notification: one for a profile, or for a subscriber where its profiles are looked at
    together."""
    if algorithm.spreading is Spreading.EXCLUSIVE:
        return [profile.broker for profile in event.matched]
    return [broker for broker, _ in {(profile.broker, profile.subscriber) for profile in event.matched}]


def passage(algorithm: Algorithm, setting: DasSetting, event: Event) -> Passage:
    """Return what an event does. The way that all of it goes ends where all profiles are: at its publisher, or at the
    root; a notification leaves it at the first broker that has the profile."""
    tree, publisher = setting.tree, event.publisher
    if algorithm.where is Where.SUBSCRIBERS:
        hops = [len(tree.links(publisher, broker)) for broker in _addressed(algorithm, event)]
        return Passage(set(tree.brokers), Counter(tree.away_from(publisher)), 0, hops)
    end = setting.roots[event.kind] if algorithm.where is Where.ROOT else publisher
    way = tree.way(publisher, end)
    filters = way[-1:] if algorithm.spreading is Spreading.EXCLUSIVE else way
    passed = Passage(set(filters), Counter(tree.links(publisher, end)))
    proxied: set[Link] = set()
    for broker in _addressed(algorithm, event):
        holders = tree.way(broker, end)
        leaves = next(each for each in filters if each in holders)
        before, links = len(tree.links(publisher, leaves)), tree.links(leaves, broker)
        passed.hops.append(before + (0 if algorithm.notice is Notice.DIRECT else len(links)))
        if algorithm.notice is Notice.DIRECT:
            passed.direct += bool(links)
        elif algorithm.notice is Notice.FORWARDED:
            passed.frames.update(links)
        else:
            proxied.update(links)
    passed.frames.update(proxied)
    passed.filtered.update(to for _, to in proxied)
    return passed


# --- what brokers hold


def held(algorithm: Algorithm, setting: DasSetting, profiles: Iterable[Profile], with_covered: bool) -> Counter[Broker]:
    """Return how many profiles each broker has of `profiles`, its own clients' included."""
    profiles = tuple(profiles)
    count = Counter(dict.fromkeys(setting.tree.brokers, 0))
    if algorithm.where is Where.ROOT and algorithm.spreading is Spreading.EXCLUSIVE:
        count.update(setting.roots[profile.kind] for profile in profiles)
        return count
    count.update(profile.broker for profile in profiles)
    for (_, to), stated in statements(algorithm, setting, profiles, with_covered).items():
        count[to] += len(stated)
    return count


def statements(
    algorithm: Algorithm, setting: DasSetting, profiles: Iterable[Profile], with_covered: bool
) -> dict[Link, frozenset[tuple[int, ...]]]:
    """Return what is said over each link, by direction: everywhere, or towards the root of each kind."""
    if algorithm.where is Where.SUBSCRIBERS:
        return {}
    tree = setting.tree
    behind: dict[Link, list[Profile]] = {}
    for profile in profiles:
        ends = (setting.roots[profile.kind],) if algorithm.where is Where.ROOT else tree.brokers
        for link in {link for end in ends for link in tree.links(profile.broker, end)}:
            behind.setdefault(link, []).append(profile)
    return {link: algorithm.stated(found, with_covered) for link, found in behind.items()}


def changes(algorithm: Algorithm, setting: DasSetting) -> tuple[list[int], list[int]]:
    """Return for each profile how many statements its coming makes, and how many its going. Who hears of a profile
    drops by itself what that covers."""
    with_covered = algorithm.spreading is not Spreading.OPTIMISTIC
    whole = statements(algorithm, setting, setting.profiles, with_covered)
    coming, going = [], []
    for profile in setting.profiles:
        others = [other for other in setting.profiles if other is not profile]
        rest = statements(algorithm, setting, others, with_covered)
        nothing: frozenset[tuple[int, ...]] = frozenset()
        coming.append(sum(len(said - rest.get(link, nothing)) for link, said in whole.items()))
        going.append(sum(len(said ^ rest.get(link, nothing)) for link, said in whole.items()))
    return coming, going


# --- all of it


def costs(algorithm: Algorithm, setting: DasSetting) -> Costs:
    link_frames: defaultdict[Link, Fraction] = defaultdict(Fraction)
    visits: defaultdict[Broker, Fraction] = defaultdict(Fraction)
    direct = hops = notices = Fraction()
    link_most = 0
    for event in events(setting):
        passed = passage(algorithm, setting, event)
        link_most = max(link_most, *passed.frames.values(), 0)
        direct += event.chance * passed.direct
        hops += event.chance * sum(passed.hops)
        notices += event.chance * len(passed.hops)
        for link, frames in passed.frames.items():
            link_frames[link] += event.chance * frames
        for broker in passed.filtered:
            visits[broker] += event.chance
    stored = held(algorithm, setting, setting.profiles, algorithm.spreading is not Spreading.OPTIMISTIC)
    compared = held(algorithm, setting, setting.profiles, algorithm.spreading is Spreading.EXCLUSIVE)
    evaluated = {broker: share * compared[broker] for broker, share in visits.items()}
    coming, going = changes(algorithm, setting)
    return Costs(
        frames=sum(link_frames.values(), Fraction()),
        link_frames=dict(link_frames),
        link_most=link_most,
        direct=direct,
        evaluated=sum(evaluated.values(), Fraction()),
        evaluated_busiest=max(evaluated.values()),
        compared_most=max(compared[broker] for broker, share in visits.items() if share),
        visits_busiest=max(visits.values()),
        stored=sum(stored.values()),
        stored_busiest=max(stored.values()),
        subscribe=Fraction(sum(coming), len(coming)),
        unsubscribe=Fraction(sum(going), len(going)),
        unsubscribe_most=max(going),
        hops=hops / notices if notices else Fraction(),
    )


def crowd(tree: BrokerTree, roots: tuple[Broker, ...], matching: Fraction) -> DasSetting:
    """Return brokers with three subscribers each, two of whom ask for things alike, as one of the next broker does.
    Each repeats itself, and asks for something narrower besides."""
    profiles: list[Profile] = []
    for group, broker in enumerate(tree.brokers):
        next_ = tree.brokers[(group + 1) % len(tree.brokers)]
        for number, (at, levels) in enumerate(((broker, (0, 1, 1, 2)), (broker, (1, 1, 2)), (next_, (1, 1, 2)))):
            for level in levels:
                of = (3 * group + number, group % len(roots), group, level)
                profiles.append(Profile(len(profiles), at, *of))
    return DasSetting(tree, roots, tuple(profiles), matching)


@click.command()
@click.option("--topology", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option("--root", "roots", multiple=True, help="Root of one kind of events; may be given for several.")
@click.option("--matching", type=float, default=0.5, show_default=True, help="Share of events that match.")
def main(topology: Path, roots: tuple[str, ...], matching: float) -> None:
    """Print what each algorithm costs where subscribers ask for the same, twice, and for something narrower."""
    tree = BrokerTree.of(topology)
    setting = crowd(tree, roots or tree.brokers[1:2], Fraction(matching).limit_denominator(1000))
    shown = [name for name in Costs.__annotations__ if name != "link_frames"]
    click.echo("      " + "".join(f"{name:>18}" for name in shown))
    for algorithm in ALGORITHMS.values():
        found = costs(algorithm, setting)
        click.echo(f"{algorithm.name:6}" + "".join(f"{float(getattr(found, name)):18.3f}" for name in shown))


if __name__ == "__main__":
    main()
