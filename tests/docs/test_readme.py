"""The README keeps its two commands, and what it shows is so."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tamis.analysis.page.style import DARK, LIGHT, Palette
from tamis.bench.router.brokers import chart
from tests.docs import picture

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
COMPARED = (ROOT / "docs" / "how-to" / "compare.md").read_text()
SCREEN_LINES, SCREEN_COLUMNS, LINES_MAX = 30, 130, 200


def test_the_two_commands_of_a_newcomer_are_targets() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert re.findall(r"^    make (\w+)", README, re.MULTILINE) == ["run", "test"]
    assert {"run", "test"} <= targets


def test_the_first_screen_says_what_it_is_and_for_whom_with_a_picture() -> None:
    lines = README.partition("\n## ")[0].splitlines()
    assert len(lines) <= SCREEN_LINES
    assert max(map(len, lines)) <= SCREEN_COLUMNS
    assert "\nIt is for " in README.partition("\n## ")[0]
    assert README.index("docs/images/network-light.svg") < README.index("\n## ")
    assert README.count("\n") <= LINES_MAX


def test_it_says_what_is_compared_and_durable() -> None:
    sections = re.findall(r"^## (.*)$", README, re.MULTILINE)
    assert sections[0] == "Try it"
    assert {"Beside other brokers", "What it costs", "What is durable", "Read on"} <= set(sections)
    table = README.partition("\n## Beside other brokers\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \*\*(\w+)", table, re.MULTILINE)
    assert {"Tamis", "NATS", "Mosquitto", "EMQX", "RabbitMQ", "Zenoh"} == set(rows)
    cited = set(re.findall(r"\]\[([\w-]+)\]", table))
    assert cited == set(re.findall(r"^\[([\w-]+)\]: https://", table, re.MULTILINE))


def test_each_image_is_there_for_light_and_for_dark_pages() -> None:
    names = set(re.findall(r'(?:src|srcset)="([^"]+)"', README))
    assert names == {str(path.relative_to(ROOT)) for path in picture.IMAGES.glob("*.svg")}
    assert names == {name.replace("light", mode) for name in names for mode in ("light", "dark")}


@pytest.mark.parametrize(("mode", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_the_images_are_what_their_commands_make(mode: str, palette: Palette) -> None:
    network, brokers = (picture.IMAGES / f"{name}-{mode}.svg" for name in ("network", "brokers"))
    assert network.read_text() == picture.picture(palette), "run python -m tests.docs.picture"
    drawn = chart.chart(chart.RESULTS.read_text(), palette)
    assert brokers.read_text() == drawn, "run python -m tamis.bench.router.brokers.chart"


def test_the_picture_shows_the_ring_of_the_examples_and_two_of_three_subscribers() -> None:
    links = re.findall(
        r"^  - \[(\w), (\w)\]", (ROOT / "configs" / "topologies" / "ring5.yaml").read_text(), re.MULTILINE
    )
    assert {frozenset(link) for link in links} == {frozenset(link) for link in picture.LINKS}
    assert picture.receivers() == {"web-team", "on-call"}
    assert picture.taken() == {("a", "e"), ("a", "c"), ("c", "d")}


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
