"""The growth benchmarks in small: what they count is right, and the same each time."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tamis.bench.networks.growth import report
from tamis.bench.networks.growth.__main__ import main
from tamis.bench.networks.growth.growth import CUTS, INTERVALS, grown
from tamis.bench.networks.growth.network import S, Simulated, random_edges, small_filters
from tamis.bench.networks.growth.state import state_of


def test_a_network_has_four_links_a_router_and_is_the_same_each_time():
    one, other = Simulated(9, [], 1), Simulated(9, [], 1)
    assert [link.name for link in one.links] == [link.name for link in other.links]
    assert len(one.links) == 18
    assert len(random_edges(3, one.random)) == 3


def test_a_network_that_stands_is_one_that_came_up():
    digests = set()
    for begin in (Simulated.come_up, Simulated.stand):
        net = Simulated(8, small_filters(16), 1)
        begin(net)
        cores = [gauged.core for gauged in net.gauge.cores.values()]
        assert len({core.figures().digest for core in cores}) == 1
        assert all(len(core.core_state.trees.routers) == 8 for core in cores)
        assert sum(len(held.filters) for held in cores[0].core_state.rib.entries.values()) == 16
        digests.add(frozenset(cores[0].core_state.topology.graph.neighbours))
    assert len(digests) == 1


@pytest.mark.slow
def test_a_cut_converges_in_a_second_and_rest_is_quiet():
    found = grown(10, stands=True)
    assert len(found.cuts) == CUTS
    assert all(0 < cut.seconds < 1 for cut in found.cuts)
    assert 0.01 < found.filter.seconds < 0.1
    assert len(found.quiet) == INTERVALS
    assert all(0 < amount < 10 for amount in found.quiet)


def test_a_link_that_can_be_spared_leaves_the_network_in_one_piece():
    net = Simulated(6, [], 1)
    net.stand()
    net.spare_link().cut(silently=False)
    net.run(3 * S)
    assert all(len(gauged.core.core_state.trees.routers) == 6 for gauged in net.gauge.cores.values())


@pytest.mark.slow
def test_memory_grows_with_filters_by_less_than_300_bytes_each():
    assert 0 < state_of(2, small_filters(2_000), 1).bytes - state_of(2, small_filters(1_000), 1).bytes < 300_000


def test_of_two_lines_about_the_same_the_later_is_told(tmp_path):
    lines = [{"part": "growth", "routers": 3_000, "state": [bytes_, 1.25, 0.5]} for bytes_ in (7_000, 9_000)]
    cut = {"change": {"seconds": 0.05, "bytes_per_link": 400, "cpu_ms": 1}, "all_cpu_ms": 70, "most_cpu_ms": 2}
    lines += [{"part": "many", "routers": 64} | cut] * 2
    (tmp_path / "growth.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = report.read(tmp_path / "growth.jsonl")
    page = report.page(found)
    assert "| 3,000 " in page
    assert " 9 |" in page
    assert " 7 |" not in page
    assert page.count("400") == 2
    assert "</svg>" in report.drawing(found)


def test_the_command_refuses_what_it_does_not_know():
    assert "unknown 'shrinking'" in CliRunner().invoke(main, ["--only", "shrinking"]).output
    assert "comma-separated list of numbers" in CliRunner().invoke(main, ["--routers", "ten"]).output
