"""The README keeps its two commands, and what it shows is so."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_two_commands_of_a_newcomer_are_targets() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert re.findall(r"^    make (\w+)", README, re.MULTILINE) == ["run", "test"]
    assert {"run", "test"} <= targets


def test_the_programs_in_it_run() -> None:
    whole, table = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    compile(whole, "README.md", "exec")
    said: list[object] = []
    exec(compile(table, "README.md", "exec"), {"print": said.append})  # noqa: S102
    assert said == [[7]]
    assert "print(table.match({" in table
    assert "# [7]" in table


def test_the_figure_is_that_of_the_page() -> None:
    [(module, measure)] = re.findall(r"-m (tamis\.bench\S*) --only tamis --measure (\S+)$", README, re.MULTILINE)
    assert measure in importlib.import_module(f"{module}.measures").MEASURES
    page = (ROOT / "bench" / "results" / "peers.md").read_text()
    [row] = re.findall(rf"^## {measure}:.*?^\| tamis +\| +([\d,]+) \| +([\d.]+) \|", page, re.DOTALL | re.MULTILINE)
    rate, cpu_us = float(row[0].replace(",", "")), float(row[1])
    assert f"{cpu_us:.1f} us of CPU" in README
    assert f"{rate / 1e6:.1f} million" in README


def test_it_says_where_it_runs_and_links_by_reader() -> None:
    assert "Linux, 64 bit" in README
    readers = re.findall(r"^- \[[^]]+\]\(docs/README\.md#[\w-]+\)", README, re.MULTILINE)
    assert len(readers) == 5
