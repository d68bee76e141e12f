"""The README keeps its two commands, and what it shows is so."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
COMPARED = (ROOT / "docs" / "how-to" / "compare.md").read_text()
SCREEN_LINES, SCREEN_COLUMNS = 52, 120


def test_the_two_commands_of_a_newcomer_are_targets() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert re.findall(r"^    make (\w+)", README, re.MULTILINE) == ["run", "test"]
    assert {"run", "test"} <= targets


def test_it_begins_with_one_screen() -> None:
    lines = README.partition("\n## ")[0].splitlines()
    assert len(lines) <= SCREEN_LINES
    assert max(map(len, lines)) <= SCREEN_COLUMNS
    assert README.split("\n## ")[1].startswith("In a terminal\n")


def test_the_program_in_it_compiles() -> None:
    [program] = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    compile(program, "README.md", "exec")


def test_the_figure_is_that_of_the_page() -> None:
    [(module, measure)] = re.findall(r"-m (tamis\.bench\S*) --only tamis --measure (\S+)$", COMPARED, re.MULTILINE)
    assert measure in importlib.import_module(f"{module}.measures").MEASURES
    page = (ROOT / "bench" / "results" / "peers.md").read_text()
    [row] = re.findall(rf"^## {measure}:.*?^\| tamis +\| +([\d,]+) \| +([\d.]+) \|", page, re.DOTALL | re.MULTILINE)
    rate, cpu_us = float(row[0].replace(",", "")), float(row[1])
    assert f"{cpu_us:.1f} us of CPU" in COMPARED
    assert f"{rate / 1e6:.1f} million" in COMPARED
    assert cpu_us < 1
    assert "less than a microsecond" in README


def test_it_says_where_it_runs_and_links_by_reader() -> None:
    assert "Linux, 64 bit" in README
    readers = re.findall(r"^- \[[^]]+\]\(docs/README\.md#[\w-]+\)", README, re.MULTILINE)
    assert len(readers) == 5
