"""What a run leaves in its folder: for each figure JSON, CSV, SVG and PNG, and of all of them verdicts and pages.

Law: pages are made of the JSON and SVG files of the folder alone, so that a run of one figure renews the page of all.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tamis.bench.cells import processor
from tamis.papers.reproduce import page
from tamis.papers.reproduce.drawing import drawn
from tamis.papers.reproduce.figure import Reproduced, ResultRows
from tamis.papers.reproduce.papers import FIGURES

VERDICTS: Final = "verdicts.json"
INDEX: Final = "index.html"


def write_figure(out: Path, done: Reproduced) -> None:
    figure, folder = done.figure, out / done.figure.paper
    folder.mkdir(exist_ok=True)
    _write_csv(folder / f"{figure.name}.csv", done.rows)
    for old in (*folder.glob(f"{figure.name}.plot*.svg"), *folder.glob(f"{figure.name}.plot*.png")):
        old.unlink()
    plots = []
    for number, spec in enumerate(figure.plots, 1):
        made = drawn(done, spec, f"p{figure.paper}-{figure.name}-{number}")
        if made is not None:
            stem = f"{figure.name}.plot{number}"
            (folder / f"{stem}.svg").write_text(made[0])
            (folder / f"{stem}.png").write_bytes(made[1])
            plots.append({"file": f"{stem}.svg", "title": spec.title})
    (folder / f"{figure.name}.json").write_text(json.dumps(_told(done, plots), indent=1) + "\n")


def _told(done: Reproduced, plots: list[dict[str, str]]) -> dict[str, Any]:
    figure = done.figure
    return {
        "paper": figure.paper,
        "id": figure.id,
        "heading": figure.heading,
        "shows": figure.shows,
        "chosen": figure.chosen,
        "is_exact": figure.is_exact,
        "scale": done.scale,
        "seed": done.seed,
        "settings": dict(figure.settings[done.scale]),
        "seconds": round(done.seconds, 1),
        "processor": processor(),
        "claims": [
            {
                "name": each.name,
                "claim": each.claim,
                "paper": each.paper,
                **judged.told(),
            }
            for each, judged in ((each, done.judgements[each.name]) for each in figure.criteria)
        ],
        "plots": plots,
        "rows": [dict(row) for row in done.rows],
    }


def _write_csv(path: Path, rows: ResultRows) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def write_pages(out: Path) -> None:
    """Verdicts and pages of every figure that stands in the folder."""
    figures = read(out)
    lines = ",\n".join(json.dumps(verdict) for verdict in verdicts(figures))
    (out / VERDICTS).write_text(f"[\n{lines}\n]\n")
    (out / INDEX).write_text(page.page(figures, out, None))
    for paper in dict.fromkeys(figure["paper"] for figure in figures):
        own = [figure for figure in figures if figure["paper"] == paper]
        (out / f"{paper}.html").write_text(page.page(own, out, paper))


def read(out: Path) -> list[dict[str, Any]]:
    """The figures of the folder, in the order of the papers."""
    paths = (out / figure.paper / f"{figure.name}.json" for figure in FIGURES)
    return [json.loads(path.read_text()) for path in paths if path.exists()]


def verdicts(figures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One object for each claim."""
    return [
        {"paper": figure["paper"], "figure": figure["id"], "scale": figure["scale"]}
        | {"id": claim["name"], "claim": claim["claim"], "verdict": claim["verdict"]}
        | {"paper_says": claim["paper"], "ours": claim["ours"], "why": claim["why"]}
        | {"readings": claim.get("readings", [])}
        for figure in figures
        for claim in figure["claims"]
    ]
