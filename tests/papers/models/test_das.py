"""The model of paper 003's algorithms: figures that can be worked out by hand, and the orderings of its section 3.5."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from tamis.papers.models.das import ALGORITHMS, Algorithm, DasSetting, Profile
from tamis.papers.models.das_costs import Costs, costs, crowd, held
from tamis.papers.models.das_tree import BrokerTree

TOPOLOGIES = Path(__file__).parents[3] / "configs" / "topologies"
EF, PF, RN = (ALGORITHMS[name] for name in ("EF", "PF8", "RN8"))  # those that the paper measures
MATCHING = (Fraction(0), Fraction(1, 10), Fraction(3, 10), Fraction(1, 2), Fraction(7, 10), Fraction(1))


@cache
def tree(name: str) -> BrokerTree:
    return BrokerTree.of(TOPOLOGIES / f"{name}.yaml")


def setting(
    on: BrokerTree,
    matching: Fraction,
    roots: tuple[str, ...] = ("b2",),
    equal: int = 1,
    locality: Fraction | None = None,
) -> DasSetting:
    """One subscriber a broker, who asks for one thing of each kind, `equal` times."""
    wanted = [(kind, group, broker) for kind, _ in enumerate(roots) for group, broker in enumerate(on.brokers)]
    profiles = [
        Profile(number, broker, group, kind, group)
        for number, (kind, group, broker) in enumerate(each for each in wanted for _ in range(equal))
    ]
    return DasSetting(on, roots, tuple(profiles), matching, locality)


def rounded(number: Fraction) -> float:
    return round(float(number), 2)


# --- frames


@pytest.mark.parametrize("pe", MATCHING)
@pytest.mark.parametrize("equal", [1, 5])
def test_frames_on_four_brokers_in_a_line(pe: Fraction, equal: int) -> None:
    bus = setting(tree("bus4"), pe, equal=equal)
    assert costs(EF, bus).frames == 3
    assert costs(PF, bus).frames == Fraction(5, 4) * pe
    assert costs(RN, bus).frames == 1 + Fraction(5, 8) * pe


@pytest.mark.parametrize("pe", MATCHING)
def test_frames_on_up_to_nine_brokers(pe: Fraction) -> None:
    pf = [0.5, 0.89, 1.13, 1.28, 1.56, 1.80, 2.0, 2.17]
    rn = [(0.5, 0.25), (0.67, 0.44), (0.75, 0.56), (0.8, 0.64), (1.0, 0.78), (1.14, 0.90), (1.25, 1.0), (1.33, 1.09)]
    for count, of_pf, (way, more) in zip(range(2, 10), pf, rn, strict=True):
        das = setting(tree("das9").first(count), pe)
        assert costs(EF, das).frames == count - 1
        assert float(costs(PF, das).frames) == pytest.approx(of_pf * pe, abs=0.005)
        assert float(costs(RN, das).frames) == pytest.approx(way + more * pe, abs=0.01)


@pytest.mark.parametrize(("pp", "pf", "rn"), [(Fraction(3, 10), 0.5, 1.25), (Fraction(7, 10), 1.17, 1.58)])
def test_frames_fall_with_locality(pp: Fraction, pf: float, rn: float) -> None:
    """The paper's figure 20: at 0 all that matches is wanted elsewhere, at 1 where it is published."""
    away, here = (setting(tree("bus4"), pp, locality=Fraction(share)) for share in (0, 1))
    assert [rounded(costs(each, away).frames) for each in (EF, PF, RN)] == [3, pf, rn]
    assert [costs(each, here).frames for each in (EF, PF, RN)] == [3, 0, 1]
    between = [costs(PF, setting(tree("bus4"), pp, locality=Fraction(tenth, 10))).frames for tenth in range(11)]
    assert between == sorted(between, reverse=True)


@pytest.mark.parametrize("equal", [1, 2, 5, pytest.param(20, marks=pytest.mark.slow)])
def test_frames_by_how_many_profiles_are_equal(equal: int) -> None:
    """Figure 16: with so many notified an event, fewer events match the more profiles are equal."""
    for notified in (Fraction(1, 10), Fraction(7, 10)):
        bus = setting(tree("bus4"), notified / equal, equal=equal)
        assert costs(PF, bus).frames == Fraction(5, 4) * notified / equal
        assert costs(RN, bus).frames == 1 + Fraction(5, 8) * notified / equal


# --- where events are filtered


def test_share_of_events_at_the_busiest_broker() -> None:
    for pe in MATCHING:
        on_bus = [costs(each, setting(tree("bus4"), pe)).visits_busiest for each in (EF, PF, RN)]
        assert on_bus == [1, Fraction(1, 4) + Fraction(7, 16) * pe, 1]
    found = [rounded(costs(PF, setting(tree("das9"), pe)).visits_busiest) for pe in MATCHING[1:5]]
    assert found == [0.18, 0.32, 0.46, 0.60]


# --- what brokers hold


def stored(algorithm: Algorithm, setting: DasSetting) -> int:
    return held(algorithm, setting, setting.profiles, with_covered=False).total()


@pytest.mark.parametrize("equal", [1, 2, 5, 10, 20])
def test_profiles_held_on_four_brokers(equal: int) -> None:
    """Figure 16 c: stored at all brokers, by what clients have asked for."""
    bus = setting(tree("bus4"), Fraction(1), equal=equal)
    asked = len(bus.profiles)
    found = [Fraction(stored(each, bus), asked) for each in (EF, PF, RN)]
    assert found == [1, 1 + Fraction(3, equal), 1 + Fraction(1, equal)]


def test_profiles_held_on_up_to_nine_brokers() -> None:
    """Figure 13 a."""
    found = []
    for count in range(2, 10):
        das = setting(tree("das9").first(count), Fraction(1))
        assert [stored(each, das) for each in (EF, PF)] == [count, count * count]
        found.append(rounded(Fraction(stored(RN, das), count)))
    assert found == [1.5, 1.67, 1.75, 1.8, 2.0, 2.14, 2.25, 2.33]


def test_profiles_held_with_several_roots() -> None:
    """Figure 18: of k kinds of events, kind i has its root at broker i."""
    found = []
    for kinds in range(1, 10):
        das = setting(tree("das9"), Fraction(1), roots=tree("das9").brokers[:kinds])
        of_ef, of_pf, of_rn = (Fraction(stored(each, das), len(das.profiles)) for each in (EF, PF, RN))
        assert (of_ef, of_pf) == (1, 9)
        found.append(rounded(of_rn))
    assert found == [2.89, 2.61, 2.70, 2.75, 2.78, 2.93, 3.03, 3.11, 3.17]


# --- the orderings of section 3.5, where subscribers share interests, repeat themselves, and ask for less besides


@cache
def in_a_crowd(name: str) -> dict[str, Costs]:
    asking = crowd(tree(name), ("b2",), Fraction(1, 2))
    return {each: costs(algorithm, asking) for each, algorithm in ALGORITHMS.items()}


@pytest.fixture(params=["bus4", pytest.param("das9", marks=pytest.mark.slow)])
def found(request: pytest.FixtureRequest) -> dict[str, Costs]:
    return in_a_crowd(request.param)


def test_traffic_is_ordered_as_the_paper_says(found: dict[str, Costs]) -> None:
    frames = {name: each.frames for name, each in found.items()}
    assert all(frames[name] < frames["EF"] for name in ("PF5", "PF8", "RN5", "RN8"))
    assert frames["PF5"] == frames["PF8"] < frames["PF4"] == frames["PF7"] < frames["PF2"]
    assert frames["RN5"] == frames["RN8"] < frames["RN4"] == frames["RN7"] < frames["RN2"]
    assert all(frames[f"PF{number}"] < frames[f"RN{number}"] for number in (1, 3, 5, 6, 8))
    assert all(each.link_most == 1 for name, each in found.items() if name[2:] in ("", "5", "8"))
    assert all(found[name].link_most > 1 for name in ("PF2", "PF4", "PF7", "RN2", "RN4", "RN7"))


def test_who_notifies_directly_sends_nothing_by_brokers(found: dict[str, Costs]) -> None:
    for name, each in found.items():
        assert (each.direct > 0) == (name[2:] in ("1", "3", "6"))
    assert [found[f"PF{number}"].frames for number in (1, 3, 6)] == [0, 0, 0]
    assert all(found[f"RN{number}"].hops < found["RN8"].hops for number in (3, 6))
    assert found["PF5"].hops == found["PF8"].hops == found["RN8"].hops < found["RN2"].hops


def test_memory_is_ordered_as_the_paper_says(found: dict[str, Costs]) -> None:
    stored = {name: each.stored for name, each in found.items()}
    exclusive, preventive, optimistic = ([f"PF{number}" for number in each] for each in ((1, 2), (3, 4, 5), (6, 7, 8)))
    assert max(stored[name] for name in preventive) < min(stored[name] for name in exclusive) == max(stored.values())
    assert all(stored[less] < stored[more] for less, more in zip(optimistic, preventive, strict=True))
    assert stored["PF5"] < stored["PF3"] == stored["PF4"]
    assert stored["PF8"] < stored["PF6"] == stored["PF7"]
    assert all(stored[f"RN{less}"] < stored[f"RN{less - 3}"] for less in (6, 7, 8))
    assert stored["RN8"] < stored["RN6"] == stored["RN7"]
    assert min(stored.values()) == stored["EF"]
    assert found["RN1"].stored_busiest == found["RN2"].stored_busiest == found["EF"].stored  # the root has all
    assert all(stored[f"RN{number}"] < stored[f"PF{number}"] for number in range(1, 9))


def test_filtering_is_ordered_as_the_paper_says(found: dict[str, Costs]) -> None:
    evaluated = {name: each.evaluated for name, each in found.items()}
    for kind in ("PF", "RN"):
        assert evaluated[f"{kind}6"] == evaluated[f"{kind}3"] < evaluated[f"{kind}1"] == evaluated[f"{kind}2"]
        assert evaluated[f"{kind}5"] == evaluated[f"{kind}8"]
        assert evaluated[f"{kind}7"] == evaluated[f"{kind}4"]
    assert found["PF8"].evaluated_busiest < found["RN8"].evaluated_busiest


def test_the_root_is_where_all_events_are_filtered(found: dict[str, Costs]) -> None:
    assert all(each.visits_busiest == 1 for name, each in found.items() if name[:2] in ("RN", "EF"))
    assert all(each.visits_busiest < 1 for name, each in found.items() if name.startswith("PF"))


def test_a_profile_that_goes_costs_more_where_what_it_covers_is_not_stored(found: dict[str, Costs]) -> None:
    assert found["PF8"].unsubscribe_most > found["PF5"].unsubscribe_most
    assert found["RN8"].unsubscribe_most > found["RN5"].unsubscribe_most
    assert found["PF8"].subscribe < found["PF5"].subscribe < found["PF1"].subscribe  # one that comes costs less
    assert all(found[name].unsubscribe == 0 == found[name].subscribe for name in ("EF",))


# --- the model itself


@pytest.mark.parametrize("seed", range(20))
def test_each_event_is_counted_once_on_any_tree(seed: int) -> None:
    """Frames that arrive are those that leave, each subscriber of an event is told, and no link is used for nothing."""
    chance = random.Random(seed)
    names = [f"b{number}" for number in range(chance.randint(2, 9))]
    on = BrokerTree(names, [(name, chance.choice(names[:number])) for number, name in enumerate(names) if number])
    root = chance.choice(names)
    drawn = setting(on, Fraction(chance.randint(0, 4), 4), (root,))
    assert sum(costs(EF, drawn).link_frames.values()) == len(names) - 1
    to_root = {(one, other) for one in names for other in on.neighbours[one] if root in on.behind(other, one)}
    up = sum(frames for link, frames in costs(RN, drawn).link_frames.items() if link in to_root)
    ways = [len(on.links(name, root)) for name in names]
    assert up >= Fraction(sum(ways), len(ways))
    distances = [len(on.links(one, other)) for one in names for other in names]
    assert costs(PF, drawn).frames == drawn.matching * Fraction(sum(distances), len(distances))


@pytest.mark.parametrize("links", [[("a", "b")], [("a", "b"), ("b", "c"), ("c", "a")], [("a", "b"), ("a", "b")]])
def test_what_is_no_tree_is_refused(links: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match="no tree of all brokers"):
        BrokerTree(["a", "b", "c"], links)
