"""Words that comments, docstrings, strings and pages written by hand do not use: riddles for a reader who knows the
field, and names that durable subscriptions had before.

A string without a space is a name or a value, which may be of an earlier version, and is not examined.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import trees
from tests.docs.test_length import words_by_hand

PRODUCT = ("protocol", "native", "configs", "router", "simulate", "analysis", "testing", "tamis")
C_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
C_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
FORBIDDEN = re.compile(
    r"\b(anew|seldom|whoever|somebody|(?-i:nobody)|so many|as ever|by and by|in vain|of which nothing|is it so)\b"
    r"|\b(see above)\b"
    r"|\b(claimants?|happenings?|ghosts?|misfits?)\b"
    r"|\b((?:a|the|each|every|no|its|one|these|those|many) keeps?|kept (?:messages?|subscriptions?)|attachments?)\b"
    r"|\b((?:given|handed) out)\b",
    re.IGNORECASE,
)
OLD_NAMES = {"old_keys.py", "old_metrics.py", "old_names.py", "old_words.py"}
"""Files of names of the previous version."""


def comments(path: Path) -> Iterator[str]:
    """Yield the comments and docstrings of a file, without those of click commands, which are help texts."""
    text = path.read_text()
    if path.suffix != ".py":
        yield from C_COMMENT.findall(text)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            marks = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            is_help = any("command" in ast.unparse(mark) for mark in marks)
            yield "" if is_help else ast.get_docstring(node) or ""


def strings(path: Path) -> Iterator[str]:
    """Yield the strings of a file that have a space."""
    text = path.read_text()
    if path.suffix == ".py":
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        found = [token.string for token in tokens if token.type == tokenize.STRING]
    else:
        found = C_STRING.findall(C_COMMENT.sub("", text))
    yield from (each for each in found if " " in each.strip())


def files() -> Iterator[Path]:
    for folder in PRODUCT:
        for path in sorted((trees.ROOT / folder).rglob("*.*")):
            if (
                path.suffix in {".py", ".c", ".h"}
                and "tests" not in path.parts
                and path.name not in {"_tm.c", *OLD_NAMES}
            ):
                yield path


@pytest.mark.parametrize("read", [comments, strings])
def test_code_is_free_of_them(read: Callable[[Path], Iterator[str]]) -> None:
    found = [
        f"{path.relative_to(trees.ROOT)}: {word[0]!r} in {' '.join(text.split())[:100]!r}"
        for path in files()
        for text in read(path)
        for word in FORBIDDEN.finditer(text)
    ]
    assert found == []


def test_pages_are_free_of_them() -> None:
    by_hand = [page for page in (trees.ROOT / "docs").rglob("*.md") if words_by_hand(page.read_text())]
    pages = [trees.ROOT / "README.md", trees.ROOT / "CONTRIBUTING.md", *by_hand]
    found = [f"{page.name}: {word[0]}" for page in pages for word in FORBIDDEN.finditer(page.read_text())]
    assert found == []


def test_a_riddle_is_found(tmp_path: Path) -> None:
    path = tmp_path / "one.c"
    path.write_text('/* It begins anew, whoever asks. */\nconst char *said = "said anew";\n')
    assert [word[0] for text in comments(path) for word in FORBIDDEN.finditer(text)] == ["anew", "whoever"]
    assert [word[0] for text in strings(path) for word in FORBIDDEN.finditer(text)] == ["anew"]
