"""A class name stands once in the product, or the glossary says why it stands twice."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design" / "glossary.md").read_text()
PRODUCT = ("protocol", "native", "configs", "router", "simulate", "analysis", "tamis")


def _classes() -> Counter[str]:
    """How many files define a class of each name."""
    trees = (ast.parse(path.read_text()) for folder in PRODUCT for path in sorted((ROOT / folder).rglob("*.py")))
    return Counter(name for tree in trees for name in {n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)})


def _section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.slow
def test_a_class_name_that_stands_twice_is_in_the_glossary() -> None:
    listed = set(re.findall(r"^\| `(\w+)` \|", _section("Class names that stand twice"), re.MULTILINE))
    twice = {name for name, count in _classes().items() if count > 1}
    assert twice == listed, "choose another name, or say in docs/design/glossary.md why it stands twice"


def test_a_word_is_explained_once() -> None:
    tables = PAGE.partition("\n## Words that were decided\n")[0]
    words = [
        word.strip()
        for cell in re.findall(r"^\| ([^|]+) \|", tables, re.MULTILINE)
        if cell not in ("word", "---")
        for word in cell.split(",")
    ]
    assert len(words) == len(set(words)) > 50


def test_the_words_that_had_to_be_decided_are() -> None:
    decided = set(re.findall(r"^- \*\*(\w+)\.\*\*", _section("Words that were decided"), re.MULTILINE))
    assert {"group", "link", "part", "shape", "trace", "held", "view"} <= decided
