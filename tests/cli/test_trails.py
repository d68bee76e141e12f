"""How the way of a message is shown, with and without all answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tamis.cli.delivery.trails import SHOWN_MAX, Names, end, show, some
from tamis.client.trail import Trail
from tamis.protocol.wire.numbers import stable_number
from tamis.protocol.wire.report_bodies import DryRunReport


def report(router: str, came_from: str, *passed_to: str, unlisted: int = 0) -> DryRunReport:
    numbers = tuple(map(stable_number, passed_to))
    source, count = stable_number("a"), len(numbers) + unlisted
    return DryRunReport(7, source, router, stable_number(came_from), 0, (), count, numbers)


def trail_of(*reports: DryRunReport) -> Trail[DryRunReport]:
    trail = Trail(DryRunReport, 7)
    for each in reports:
        trail.add(each)
    return trail


def shown(trail: Trail[DryRunReport], capsys: pytest.CaptureFixture[str]) -> list[str]:
    show(trail, Names(*"abcdef"), ("passed",), lambda each: [str(each.passed_count)], None)
    return capsys.readouterr().out.splitlines()[1:]


def test_a_tree_has_a_line_for_each_step(capsys) -> None:
    trail = trail_of(
        report("a", "me", "b", "e"), report("b", "a", "c", "d"), report("d", "b"), report("c", "b"), report("e", "a")
    )
    assert shown(trail, capsys) == ["a        2", "├─ b     2", "│  ├─ c  0", "│  └─ d  0", "└─ e     0"]
    assert end(trail, Names(), 1) == 0
    assert capsys.readouterr().err == ""


def test_who_does_not_answer_has_a_line_and_a_sentence(capsys) -> None:
    trail = trail_of(report("a", "me", "b"), report("c", "b"), report("f", "e"))
    assert shown(trail, capsys) == ["a        1", "└─ b     no answer", "   └─ c  0", "f        0"]
    assert end(trail, Names("a", "b"), 0.5) == 1
    assert capsys.readouterr().err == "no answer within 0.5 s from b, to which a forwarded the message\n"


def test_an_object_for_each_step(capsys) -> None:
    trail = trail_of(report("a", "me", "b"))
    show(trail, Names("a", "me"), (), lambda _: [], lambda each: {"passed": each.passed_count})
    forms: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert forms == [
        {"router": "a", "came_from": "me", "answered": True, "passed": 1},
        {"router": f"{stable_number('b'):016x}", "came_from": "a", "answered": False},
    ]


@pytest.mark.parametrize(
    ("reports", "sentence"),
    [
        ((), "no report within 2 s from the router of this client\n"),
        ((report("a", "me", unlisted=1),), "a router forwarded the message to more routers than its report lists"),
    ],
)
def test_other_ends(reports, sentence, capsys) -> None:
    assert end(trail_of(*reports), Names(), 2) == 1
    assert capsys.readouterr().err.startswith(sentence)


def test_routers_that_contradict_each_other_end_all_the_same(capsys) -> None:
    trail = trail_of(report("a", "me", "b"), report("b", "a", "a"), report("a", "b", "b"))
    assert len(shown(trail, capsys)) == 3


def test_a_long_list_is_cut() -> None:
    words = [str(number) for number in range(SHOWN_MAX + 2)]
    assert some(words[:2], 2) == "0 1"
    assert some(words, len(words)).endswith(" and 2 more")
    assert some(["x"], 1_001, "; ") == "x; and 1,000 more"
