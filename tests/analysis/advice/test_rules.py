"""Each rule speaks up where its evidence says so, promises what follows from it, and says why where it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.advice.rules import RULES, advised
from tamis.analysis.advice.wording import Advice, Evidence
from tamis.configs import Topology, parse_topology
from tamis.configs.edit import edited
from tamis.protocol.strategies import STRATEGIES, Asks, StrategyFacts

MIB = 1024 * 1024


def _file(keys: str = "", routers: str = "a", is_ring: bool = True) -> str:
    names = ", ".join(
        f'{each}: {{clients: "127.0.0.1:74{place:02}", neighbours: "127.0.0.1:75{place:02}"}}'
        for place, each in enumerate(routers)
    )
    pairs = zip(routers, routers[1:] + routers[0] if is_ring else routers[1:], strict=is_ring)
    links = ", ".join(f"[{one}, {other}]" for one, other in pairs if one != other)
    return f"routers: {{{names}}}\n{f'links: [{links}]' if links else ''}\n{keys}\n"


def _topology(keys: str = "", routers: str = "a", is_ring: bool = True) -> Topology:
    return parse_topology(_file(keys, routers, is_ring))


def _said(evidence: Evidence, rule: str) -> Advice:
    (found,) = (each for each in advised(evidence) if each.rule == rule)
    return found


def _times(*routers: str, match_ns: float = 2_000.0, messages: int = 100) -> list[dict[str, Any]]:
    return [{"router": each, "messages": messages, "match_ns": match_ns, "at_us": 0} for each in routers]


def _trials(router: str, **ns: float | None) -> list[dict[str, Any]]:
    """`sff10` is sff with 10 rounds."""
    told = {"router": router, "filters": 400, "remote_filters": 100, "messages": 50}
    return [
        told
        | {
            "engine": name.rstrip("0123456789"),
            "rounds": int(name[3:]) if name.startswith("sff") else None,
            "match_ns": each,
        }
        for name, each in ns.items()
    ]


# --- engine and rounds ------------------------------------------------------------------------------------------------


def test_the_fastest_engine_is_advised_with_the_ratio_of_the_trial() -> None:
    evidence = Evidence(
        _topology("engine: counting"),
        {"a": "counting"},
        match_times=_times("a"),
        trials=_trials("a", counting=1_000.0, sff0=900.0, sff10=600.0, tamis=250.0),
    )
    found = _said(evidence, "engine")
    assert (found.verdict, found.now, found.then) == ("change", "counting", "tamis")
    assert (found.figure, found.before, found.promised) == ("match ns a message", 2_000.0, 500.0)
    assert found.edits == {("engine",): "tamis"}
    assert found.promise == "match time a message 2 -> 0.5 us"
    assert "500 filters" in found.evidence


@pytest.mark.parametrize(
    ("engine", "match_ns", "tamis_ns"), [("counting", 2_000.0, 850.0), ("counting", 200.0, 780.0), ("tamis", 2e3, 1e3)]
)
def test_an_engine_that_saves_little_is_not_advised(engine: str, match_ns: float, tamis_ns: float) -> None:
    trials = _trials("a", counting=1_000.0, tamis=tamis_ns)
    found = _said(
        Evidence(_topology(f"engine: {engine}"), {}, match_times=_times("a", match_ns=match_ns), trials=trials),
        "engine",
    )
    assert (found.verdict, found.edits, found.before) == ("nothing to change", {}, match_ns)


def test_rounds_are_advised_where_sff_is_best_and_left_where_it_goes() -> None:
    topology = _topology("engine: {name: sff, options: {rounds: 0}}")
    trials = _trials("a", sff0=900.0, sff10=300.0, tamis=400.0)
    evidence = Evidence(topology, {"a": "sff"}, match_times=_times("a", match_ns=900.0), trials=trials)
    found = _said(evidence, "rounds")
    assert (found.then, found.promised) == ("10", 300.0)
    for written in ("sff", "{name: sff, options: {rounds: 0}}", "{name: sff, rounds: 0}"):
        assert "engine: {name: sff, options: {rounds: 10}}" in edited(f"engine: {written}", found.edits)
    assert _said(evidence, "engine").verdict == "nothing to change"
    evidence = replace(evidence, trials=_trials("a", sff0=900.0, sff10=300.0, tamis=100.0))
    assert _said(evidence, "rounds").verdict == "nothing to change"
    assert "another engine is better" in _said(evidence, "rounds").evidence
    assert _said(evidence, "engine").then == "tamis"


def test_among_equals_the_default_or_the_fewest_rounds_are_taken() -> None:
    evidence = Evidence(_topology("engine: counting"), match_times=_times("a"))
    trials = _trials("a", counting=1_000.0, sff1=305.0, sff10=300.0, tamis=500.0)
    assert _said(replace(evidence, trials=trials), "engine").then == "sff with 1 rounds"
    trials = _trials("a", counting=1_000.0, sff1=305.0, sff10=300.0, tamis=320.0)
    assert _said(replace(evidence, trials=trials), "engine").then == "tamis"


def test_a_router_with_an_engine_of_its_own_is_advised_apart() -> None:
    topology = _topology("engine: tamis", "abc")
    own = topology.routers["b"].model_copy(update={"engine": _topology("engine: counting").engine})
    topology = topology.model_copy(update={"routers": {**topology.routers, "b": own}})
    trials = [*_trials("a", counting=100.0, tamis=50.0), *_trials("b", counting=1_000.0, tamis=100.0)]
    evidence = Evidence(topology, {}, match_times=_times("a", "b"), trials=trials)
    found = {each.option: each for each in advised(evidence) if each.rule == "engine"}
    assert found["engine"].verdict == "nothing to change"
    assert found["routers.b.engine"].edits == {("routers", "b", "engine"): "tamis"}


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (Evidence(_topology()), "no match times"),
        (
            Evidence(_topology(), {"a": "sff"}, match_times=_times("a")),
            "the logs are of engine sff, the file has tamis",
        ),
        (Evidence(_topology(), {"a": "tamis"}, match_times=_times("a")), "other routers, where matching takes longer"),
        (
            Evidence(
                _topology(),
                match_times=_times("a"),
                trials=[{"router": "a", "engine": None, "filters": 9, "remote_filters": 0, "match_ns": None}],
            ),
            "so few filters (9)",
        ),
        (
            Evidence(_topology("engine: plain"), match_times=_times("a"), trials=_trials("a", tamis=1.0)),
            "no router runs engine plain",
        ),
    ],
)
def test_without_evidence_the_engine_stays_and_why_is_said(evidence: Evidence, words: str) -> None:
    found = _said(evidence, "engine")
    assert found.verdict == "nothing to change"
    assert words in found.evidence


# --- queues -----------------------------------------------------------------------------------------------------------


def _overflow(worst: int, message_bytes: float = 1_000.0, client: str = "slow") -> dict[str, Any]:
    told = {"router": "a", "neighbour": None, "client": client, "dropped": worst + 5, "worst": worst}
    return told | {"message_bytes": message_bytes}


def test_a_bound_is_what_it_was_and_what_it_lost_and_a_quarter() -> None:
    lost = [_overflow(7_000), _overflow(10, client="other")]
    found = _said(Evidence(_topology("limits: {connection_queue_bytes: 1048576}"), overflows=lost), "queues")
    assert found.edits == {("routers", "a", "limits", "connection_queue_bytes"): 10 * MIB}
    assert (found.before, found.promised) == (7_020, 0)
    assert found.promise == "no drops at peaks of 8,048,576 bytes in a queue"
    assert "client slow lost 7,000" in found.evidence


def test_a_receiver_for_which_no_memory_is_enough_is_left_alone() -> None:
    topology = _topology("limits: {memory_bytes: 16777216, connection_queue_bytes: 1048576}")
    found = _said(Evidence(topology, overflows=[_overflow(7_000)]), "queues")
    assert (found.verdict, found.edits) == ("nothing to change", {})
    assert "slower than its traffic" in found.evidence


def test_no_queue_was_full() -> None:
    totals = [{"published": 1, "control_bytes": 0, "frame_bytes": None, "downstream_ns": None}]
    assert _said(Evidence(_topology(), totals=totals), "queues").evidence == "no queue was full"
    assert _said(Evidence(_topology()), "queues").evidence == "the logs have no counters"


# --- forwarding -------------------------------------------------------------------------------------------------------


def _reach(source: str, wanted_at: str, messages: int, frames: int) -> dict[str, Any]:
    return {"source": source, "wanted_at": list(wanted_at), "messages": messages, "frames": frames}


def test_frames_that_a_tree_for_each_source_would_spare() -> None:
    topology = _topology("broadcast: shared-tree", "abcde")
    reach = [_reach("a", "be", 10, 50), _reach("c", "c", 5, 0), _reach("d", "", 5, 10)]
    found = _said(Evidence(topology, reach=reach), "strategy")
    assert (found.before, found.promised) == (3.0, 1.0)
    assert found.edits == {("broadcast",): "source-trees"}
    assert found.promise == "frames between routers a message 3 -> 1"


@pytest.mark.parametrize(
    ("keys", "frames", "words"),
    [
        ("broadcast: shared-tree", 21, "where 1 suffice to reach all"),
        ("", 40, "the most exact setting"),
        ("strategy: {name: advertise, predicates: coarse}", 20, "where 1 suffice"),
    ],
)
def test_frames_that_are_needed_or_cannot_be_spared(keys: str, frames: int, words: str) -> None:
    found = _said(Evidence(_topology(keys, "abcde"), reach=[_reach("a", "b", 20, frames)]), "strategy")
    assert (found.verdict, found.edits) == ("nothing to change", {})
    assert words in found.evidence


def test_coarse_predicates_that_cost_frames_become_exact() -> None:
    topology = _topology("strategy: {name: advertise, predicates: coarse}", "abcde")
    found = _said(Evidence(topology, reach=[_reach("a", "b", 20, 40)]), "strategy")
    assert found.edits == {("strategy", "predicates"): "exact"}


def _totals(published: int = 100, said: int = 0, frame_bytes: float | None = 200.0, lost: int = 0) -> dict[str, Any]:
    told = {"published": published, "control_bytes": said, "frame_bytes": frame_bytes}
    return told | {"downstream_ns": None, "links_lost": lost}


NEIGHBOURS_WANT = [_reach("a", "b", 20, 20)]
NOBODY_WANTS = [_reach(source, "", 20, 0) for source in "abcde"]


@pytest.mark.parametrize(
    ("reach", "totals", "then", "before", "promised"),
    [
        # A statement crosses 2 x 5 - 4 links of the ring, 4 of one tree, and 1.2 on the mean to a root.
        (NEIGHBOURS_WANT, _totals(said=60), None, 200.6, None),
        (NEIGHBOURS_WANT, _totals(said=60_000), "rendezvous", 800.0, 320.0),
        (NEIGHBOURS_WANT, _totals(said=120_000, lost=3), "flood", 1_400.0, 800.0),
        (NOBODY_WANTS, _totals(said=60_000, frame_bytes=2_000.0), "profile", 600.0, 400.0),
    ],
)
def test_the_strategy_of_the_fewest_bytes_is_advised(
    reach: list[dict[str, Any]], totals: dict[str, Any], then: str | None, before: float, promised: float | None
) -> None:
    found = _said(Evidence(_topology("", "abcde"), reach=reach, totals=[totals]), "bytes")
    assert (found.verdict, found.before) == ("change" if then else "nothing to change", before)
    assert found.promised == promised
    assert found.edits.get(("strategy", "name")) == then
    assert ("profile and rendezvous are left out, as links failed 3 times" in found.evidence) == (then == "flood")


def test_the_root_that_is_advised_has_the_fewest_bytes_and_another_one_stands_by() -> None:
    reach = [_reach("a", "b", 20, 20), _reach("b", "a", 10, 10)]
    found = _said(Evidence(_topology("", "abcde"), reach=reach, totals=[_totals(said=60_000)]), "bytes")
    assert sorted(found.edits["strategy", "others"]) == ["a", "b"]
    assert found.then == f"rendezvous with roots {' and '.join(found.edits['strategy', 'others'])}"


def test_on_a_tree_links_that_failed_leave_no_strategy_out() -> None:
    found = _said(
        Evidence(_topology("", "abc", is_ring=False), reach=NEIGHBOURS_WANT, totals=[_totals(said=60_000, lost=3)]),
        "bytes",
    )
    assert "rendezvous takes" in found.evidence


@pytest.mark.parametrize(
    "facts", [each for each in STRATEGIES if each.asks is Asks.WANTED], ids=lambda facts: facts.name
)
@pytest.mark.parametrize(
    ("reach", "totals", "then"),
    [
        (NEIGHBOURS_WANT, _totals(said=60_000), "rendezvous"),
        (NEIGHBOURS_WANT, _totals(said=120_000, lost=3), "flood"),
        (NOBODY_WANTS, _totals(said=60_000, frame_bytes=2_000.0), "profile"),
    ],
    ids=["rendezvous", "flood", "profile"],
)
def test_a_file_of_any_strategy_that_is_advised_another_can_be_loaded(
    facts: StrategyFacts, reach: list[dict[str, Any]], totals: dict[str, Any], then: str
) -> None:
    said = ", ".join(f"{option}: {value}" for option, value in {"name": facts.key, **facts.options}.items())
    engine = "counting" if facts.limits_matches else "tamis"
    keys = f"strategy: {{{said}}}\nbroadcast: source-trees\nengine: {engine}"
    found = _said(Evidence(_topology(keys, "abcde"), reach=reach, totals=[totals]), "bytes")
    assert found.now == facts.name
    text = edited(_file(keys, "abcde"), found.edits)
    assert parse_topology(text).strategy.facts.name == then


@pytest.mark.parametrize(("key", "words"), [("rendezvous", "pass the root"), ("profile", "follow one tree")])
def test_where_messages_go_by_edges_it_is_said_which_way(key: str, words: str) -> None:
    totals = [_totals(said=100_000)]
    evidence = Evidence(_topology(f"strategy: {key}", "abcde"), reach=[_reach("a", "b", 20, 80)], totals=totals)
    assert words in _said(evidence, "strategy").evidence
    assert [each for each in advised(evidence) if each.rule == "bytes"] == []


@pytest.mark.parametrize("keys", ["strategy: flood", "strategy: {name: flood, prune: false}"])
def test_where_routers_flood_nothing_is_said_of_frames_in_vain(keys: str) -> None:
    totals = [_totals(said=100_000)]
    evidence = Evidence(_topology(keys, "abcde"), reach=[_reach("a", "b", 20, 80)], totals=totals)
    assert "without a matching subscription" in _said(evidence, "strategy").evidence
    assert [each for each in advised(evidence) if each.rule == "bytes"] == []


# --- what is not there yet --------------------------------------------------------------------------------------------


def _excluded(name: str, in_messages: float, in_filters: float) -> dict[str, Any]:
    excluded = (1 - in_messages) * in_filters
    return {"name": name, "in_messages": in_messages, "in_filters": in_filters, "excluded": excluded}


def test_an_order_of_attributes_is_told_and_nothing_changed() -> None:
    names = [_excluded("rare", 0.1, 0.5), _excluded("usual", 1.0, 1.0)]
    found = _said(Evidence(_topology(), exclusions=names), "order")
    assert (found.verdict, found.edits, found.now) == ("nothing to change", {}, "each engine's own")
    assert "excludes 45% of all filters: rare, usual. " in found.evidence
    fixed = _said(Evidence(_topology("engine: {name: pst, options: {order: names}}"), exclusions=names), "order")
    assert fixed.now.startswith("by the alphabet at ")
    assert "pst first tests the names of most filters, unless" in fixed.evidence
    everywhere = [_excluded("usual", 1.0, 1.0), _excluded("too", 0.95, 0.5)]
    assert _said(Evidence(_topology(), exclusions=everywhere), "order").verdict == "nothing to change"


@pytest.mark.parametrize(
    ("downstream_ns", "keys", "verdict"),
    [(10_000, 8.0, "for experiments"), (165, 1.0, "nothing to change"), (None, 8.0, "nothing to change")],
)
def test_reuse_pays_where_keys_cost_less_than_a_look(downstream_ns: int | None, keys: float, verdict: str) -> None:
    totals = [{"published": 1, "control_bytes": 0, "frame_bytes": 1.0, "downstream_ns": downstream_ns}]
    rows = [{"threshold": 10, "complete": 0.5, "keys": 5.0}, {"threshold": 20, "complete": 0.95, "keys": keys}]
    found = _said(Evidence(_topology("", "abc"), totals=totals, keys=rows), "reuse")
    assert (found.verdict, found.edits) == (verdict, {})
    assert verdict == "nothing to change" or found.then == "reuse: keys, keys_max: 20"


# --- all of them ------------------------------------------------------------------------------------------------------


def test_every_rule_says_something_in_words_and_is_in_the_manual() -> None:
    found = advised(Evidence(_topology()))
    assert {each.rule for each in found} == {rule.name for rule in RULES} - {"bytes"}
    assert all("nothing to change" in str(each) for each in found)
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "analyze.md").read_text()
    for rule in RULES:
        assert f"| `{rule.name}` | {rule.looks_at} | {rule.speaks_from} | {rule.promises} |" in page


def _candidates(candidates: int, passed: int, client: str = "alice") -> dict[str, Any]:
    return {"router": "a", "client": client, "text": "exists x", "candidates": candidates, "passed": passed}


@pytest.mark.parametrize(
    ("candidates", "passed", "is_named"),
    [(10_000, 1, True), (10_000, 2, False), (9_999, 0, False), (25_000, 2, True), (25_000, 3, False), (0, 0, False)],
)
def test_a_program_that_lets_one_of_ten_thousand_candidates_pass_is_named(
    candidates: int, passed: int, is_named: bool
) -> None:
    rows = [_candidates(candidates, passed), _candidates(50_000, 40_000, "bob")]
    found = _said(Evidence(_topology(), candidates=rows), "programs")
    assert ("filter of alice at a" in str(found)) is is_named
    assert f"{passed:,} of {candidates:,} candidates pass" in str(found) or not is_named
    assert "bob" not in str(found)
    assert found.edits == {}
