"""When a way counts as unsteady: for what happens on it, and for nothing else. Times are seconds."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.questions.ways import NetworkChange, Past, RestlessSpan, RouterPicture, spans

RING = "a b 1\na c 1\na e 1\nb c 1\nc d 1\nd e 1"
WITHOUT_D = "a b 1\na c 1\na e 1\nb c 1"
BEFORE, AFTER = 3, 5


def past(views: dict[str, list[RouterPicture]], changes: tuple[NetworkChange, ...] = (), **more: object) -> Past:
    return Past(RestlessSpan(0, 1_000), views, list(changes), more.get("dark", {}), more.get("errors_us", {}))  # type: ignore[arg-type]


def of_all(*views: RouterPicture) -> dict[str, list[RouterPicture]]:
    return {router: list(views) for router in "abcde"}


def unsteady(known: Past, pair: str) -> list[tuple[int, int]]:
    return [tuple(span) for span in spans(known, pair[0], pair[1], BEFORE, AFTER)]


START = (0, 10 + AFTER)
"""Until then nobody knew of anybody."""


def test_a_way_is_unsteady_until_all_on_it_know_it() -> None:
    views = of_all(RouterPicture(10, RING)) | {"c": [RouterPicture(20, RING)], "e": [RouterPicture(99, RING)]}
    assert unsteady(past(views), "bd") == [(0, 20 + AFTER)]


def test_a_dead_router_concerns_the_ways_that_lead_over_it_alone() -> None:
    views = of_all(RouterPicture(10, RING), RouterPicture(101, WITHOUT_D), RouterPicture(200, RING))
    changes = [NetworkChange(end, "d", at) for end in "ce" for at in (100, 199)] + [NetworkChange("d", None, 198)]
    known = past(views, tuple(changes))
    for pair in ("ab", "ac", "bc", "ae", "be"):
        assert unsteady(known, pair) == [START], pair
    for pair in ("ad", "bd", "cd", "ed"):
        assert unsteady(known, pair) == [START, (100 - BEFORE, 200 + AFTER)], pair
    # From c to e there are two shortest ways, and one of them is by d.
    assert unsteady(known, "ce") == [START, (100 - BEFORE, 101 + AFTER), (200 - BEFORE, 200 + AFTER)]


def test_a_link_that_comes_back_at_once_is_a_change_though_nobody_saw_another_network() -> None:
    known = past(of_all(RouterPicture(10, RING)), (NetworkChange("a", "b", 50), NetworkChange("b", "a", 51)))
    assert unsteady(known, "ab") == [START, (50 - BEFORE, 51 + AFTER)]
    assert unsteady(known, "ac") == [START]


def test_one_on_the_way_who_sees_another_network_makes_it_unsteady() -> None:
    views = of_all(RouterPicture(10, RING)) | {
        "c": [RouterPicture(10, RING), RouterPicture(60, WITHOUT_D), RouterPicture(80, RING)]
    }
    assert unsteady(past(views), "bd") == [START, (60 - BEFORE, 80 + AFTER)]
    assert unsteady(past(views), "ab") == [START]


def test_what_is_not_written_is_not_known() -> None:
    known = past(of_all(RouterPicture(10, RING)), dark={"c": [RestlessSpan(300, 310)]})
    assert unsteady(known, "bd") == [START, (300 - BEFORE, 310 + AFTER)]
    assert unsteady(known, "ab") == [START]
    silent = of_all(RouterPicture(10, RING))
    del silent["c"]
    assert unsteady(past(silent), "bd") == [(0, 1_000)]


def test_clocks_may_be_wrong() -> None:
    known = past(of_all(RouterPicture(10, RING)), (NetworkChange("a", "b", 50),), errors_us={"a": 2, "b": 1, "c": 4})
    assert unsteady(known, "ab") == [(0, 10 + AFTER + 6), (50 - BEFORE - 6, 50 + AFTER + 6)]
