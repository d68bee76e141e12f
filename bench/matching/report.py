"""Results of `bench.match` for people (a table) and for programs (one JSON object a line).

Law: in JSON an engine has one object: that of its fastest contender, with the others' times under `by_rounds`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from tamis.bench.matching.contenders import Setup
from tamis.bench.matching.match import Result, fastest_of_each
from tamis.bench.tables import markdown, percent, short

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_DIGITS = 4  # what a shared machine can tell, and one more


def rows_for_programs(setup: Setup, results: list[Result]) -> list[dict[str, object]]:
    asked = asdict(replace(setup, contenders=()))
    del asked["contenders"]
    rows = []
    for best in fastest_of_each(results):
        same = [result for result in results if result.engine == best.engine]
        row = flat(best) | {"setup": asked}
        if len(same) > 1:
            row["by_rounds"] = {str(result.rounds): _rounded(result.mean_us) for result in same}
        rows.append(row)
    return rows


def table_for_people(results: list[Result]) -> str:
    """A Markdown table, one contender a line; times in microseconds. Under it, what to know about libraries."""
    head = ["engine", "build s", "mean", "±", "median", "p99", "msgs/s", "B/constraint all", "hot"]
    head += ["add", "p99.9", "max", "remove", "p99.9", "max", "matched", "steps", "instr/msg", "churn", "ratio"]
    return "\n".join([markdown(head, (_cells(result) for result in results)), *_remarks(results)])


def _remarks(results: list[Result]) -> list[str]:
    return [f"{label(result)}: {result.note}" for result in results if result.note]


def plain(figures: DataclassInstance | None) -> dict[str, Any]:
    """Rounded to what a machine can tell; what is not known is left out."""
    told = {} if figures is None else asdict(figures)
    return {key: _rounded(value) for key, value in told.items() if value is not None and value != math.inf}


def label(result: Result) -> str:
    return result.engine if result.rounds is None else f"{result.engine} r={result.rounds}"


def flat(result: Result) -> dict[str, Any]:
    """All figures in one object; what is not known is left out."""
    row = plain(result)
    updates: dict[str, object] = row.pop("updates", {})
    return row | updates


def _cells(result: Result) -> list[str]:
    times = result.updates
    updates: list[float | None] = [None] * 6
    if times is not None:
        updates = [times.add_us, times.add_p999_us, times.add_max_us]
        updates += [times.remove_us, times.remove_p999_us, times.remove_max_us]
    return [
        label(result),
        *(short(result.build_s), short(result.mean_us), percent(result.spread)),
        *(short(result.median_us), short(result.p99_us), short(result.msgs_per_s)),
        *(short(result.bytes_per_constraint), short(result.hot_bytes_per_constraint)),
        *(short(us) for us in updates),
        short(result.matched_mean),
        short(result.steps),
        short(result.instructions),
        percent(result.churn),
        short(result.ratio),
    ]


def _rounded(value: Any) -> Any:  # noqa: ANN401 - a figure, a word, or a table of them
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
