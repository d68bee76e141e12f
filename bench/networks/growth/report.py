"""`python -m tamis.bench.networks.growth.report`: what `results/growth.jsonl` holds, as a page and a plot.

Law: a line of the file is one thing that was measured, as `--json` prints it; of two lines about the same thing the
later counts. The page is made of the lines alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tamis.analysis.page.svg import Axis, PlotLine, plot
from tamis.bench.tables import markdown

RESULTS: Final = Path(__file__).parents[2] / "results"
HEAD: Final = (
    *("routers", "links", "up after s", "up, kB a link", "of it vectors", "at rest, B a link and s"),
    *("filter, B a link", "filter, ms", "cut, B a link", "cut, ms", "cut, CPU ms", "state, kB"),
    *("new trees, CPU ms", "a source, CPU ms"),
)


def read(path: Path) -> list[dict[str, Any]]:
    latest: dict[tuple[Any, ...], dict[str, Any]] = {}
    for number, line in enumerate(path.read_text().splitlines()):
        found = json.loads(line)
        what = (found["part"], found.get("routers"))
        latest[(*what, number) if found["part"] == "many" else what] = found
    return list(latest.values())


def growth_rows(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted((each for each in found if each["part"] == "growth"), key=lambda each: each["routers"])


def worst(found: dict[str, Any], figure: str) -> float:
    return max(float(cut[figure]) for cut in found["cuts"])


def row(found: dict[str, Any]) -> list[str]:
    bytes_, reroute_ms, source_ms = found["state"]
    alone = [f"{bytes_ / 1e3:,.0f}", f"{reroute_ms:.1f}", f"{source_ms:.2f}"]
    if "cuts" not in found:
        return [f"{found['routers']:,}", *["" for _ in HEAD[1:-3]], *alone]
    up = found["up"]
    share = f"{found['up_bytes']['vectors'] / sum(found['up_bytes'].values()):.0%}" if up else ""
    quiet = found["quiet"][1:]
    return [
        *(f"{found['routers']:,}", f"{found['links']:,}"),
        *((f"{up['seconds']:.1f}", f"{up['bytes_per_link'] / 1e3:,.0f}", share) if up else ("", "", "")),
        f"{min(quiet):.1f} to {max(quiet):.1f}",
        *(f"{found['filter']['bytes_per_link']:.0f}", f"{1e3 * found['filter']['seconds']:.0f}"),
        *(f"{worst(found, 'bytes_per_link'):.0f}", f"{1e3 * worst(found, 'seconds'):.0f}"),
        *(f"{worst(found, 'cpu_ms'):.1f}", *alone),
    ]


def many_table(found: list[dict[str, Any]]) -> str:
    head = ["cut", "converged, ms", "B a link", "CPU of all, ms", "most expensive router, ms"]
    rows = [
        [
            str(number),
            f"{1e3 * each['change']['seconds']:.0f}",
            f"{each['change']['bytes_per_link']:.0f}",
            f"{each['all_cpu_ms']:.0f}",
            f"{each['most_cpu_ms']:.1f}",
        ]
        for number, each in enumerate(found, 1)
    ]
    return markdown(head, rows)


def page(found: list[dict[str, Any]]) -> str:
    parts = {name: [each for each in found if each["part"] == name] for name in ("many", "filters")}
    told = [
        "# Growth of the control plane, measured",
        "By `python -m tamis.bench.networks.growth`; what the figures mean, in [bench/README.md](../README.md).",
        markdown(list(HEAD), [row(each) for each in growth_rows(found)]),
        "![growth](growth.svg)",
        "## 64 routers with 100,000 filters: a link is cut",
        many_table(parts["many"]),
        "## 100,000 filters of another router",
        *(f"{each['bytes_each']:.0f} bytes each, beyond the table." for each in parts["filters"]),
    ]
    return "\n\n".join(told) + "\n"


def drawing(found: list[dict[str, Any]]) -> str:
    rows = growth_rows(found)
    whole = [each for each in rows if "cuts" in each]
    lines = [
        PlotLine(
            "coming up, kB a link", [(r["routers"], r["up"]["bytes_per_link"] / 1e3) for r in whole if r["up"]], 0
        ),
        PlotLine("cut, B a link", [(r["routers"], worst(r, "bytes_per_link")) for r in whole], 1),
        PlotLine("cut, ms until converged", [(r["routers"], 1e3 * worst(r, "seconds")) for r in whole], 2),
        PlotLine("state, kB a router", [(r["routers"], r["state"][0] / 1e3) for r in rows], 3),
        PlotLine("new trees, CPU ms", [(r["routers"], r["state"][1]) for r in rows], 4),
        PlotLine("at rest, B a link and s", [(r["routers"], max(r["quiet"][1:])) for r in whole], 5),
    ]
    x = Axis.over("routers", [a for line in lines for a, _ in line.points], log=True)
    y = Axis.over("see the legend", [b for line in lines for _, b in line.points], log=True)
    return plot("What a network of routers costs as it grows", x, y, lines)


def main() -> None:
    found = read(RESULTS / "growth.jsonl")
    (RESULTS / "growth.md").write_text(page(found))
    (RESULTS / "growth.svg").write_text(drawing(found))


if __name__ == "__main__":
    main()
