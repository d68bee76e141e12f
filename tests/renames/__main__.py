"""Rename by the table `names.toml` what it lists, in C, Python and pages at once: `python -m tests.renames [--write]`.

Without --write it prints each identifier with its new name, how often it stands, and the files in which the new name
stands already. The folder goes when all of the table has been applied.

Law: an identifier is renamed where it is code. In comments, strings and pages it is renamed if it cannot be a word of
English: it has an underscore or a capital inside, or is all capitals. Contents of `never` stay as they are.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests import trees

HERE = Path(__file__).parent
TABLE: dict[str, Any] = tomllib.loads((HERE / "names.toml").read_text())
PACKAGES = ("protocol", "native", "configs", "router", "simulate", "analysis", "testing", "bench", "papers")
NAME = re.compile(r"[A-Za-z_]\w*")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|_+")
C_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def files(root: Path) -> Iterator[Path]:
    """Yield the files under version control, without those whose text is history or data."""
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout  # noqa: S607
    yield from (root / name for name in listed.split() if not name.startswith(tuple(TABLE["untouched"])))


def renamed(name: str, file: str) -> str:
    """Return the name of an identifier of code in `file` after all families of the table."""
    return _renamed(name, tuple(key for key, family in TABLE["family"].items() if _is_in(file, family)))


def _is_in(file: str, family: dict[str, Any]) -> bool:
    return file.startswith(tuple(family.get("under", [""]))) and not file.startswith(tuple(family.get("not_in", ["/"])))


@cache
def _renamed(name: str, families: tuple[str, ...]) -> str:
    for key in families:
        family = TABLE["family"][key]
        if name in family.get("never", ()):
            continue
        exact, patterns = family.get("exact", {}), family.get("patterns", {})
        by_pattern = next((re.sub(old, new, name) for old, new in patterns.items() if re.search(old, name)), None)
        name = exact.get(name) or by_pattern or _by_words(name, family.get("words", {}))
    return name


def _by_words(name: str, words: dict[str, str]) -> str:
    parts = PART.findall(name)
    return "".join(_in_case(words.get(part.lower(), part), part) for part in parts) if "".join(parts) == name else name


def _in_case(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return "".join(part.capitalize() for part in word.split("_")) if like[:1].isupper() else word


def is_english(name: str) -> bool:
    """Return whether an identifier could be a word of a sentence."""
    return name.isalpha() and (name.islower() or name[1:].islower())


def in_python(text: str, new: Callable[[str], str], in_text: Callable[[str], str]) -> str:
    """Return Python with its names renamed by `new` and its strings and comments by `in_text`."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    edits: list[tuple[int, int, str]] = []
    before = ["", "", "", ""]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        changed = token.string
        if token.type == tokenize.NAME:
            changed = new(token.string)
        elif token.type == tokenize.STRING:
            changed = in_text(token.string)
            if {"parametrize", "setattr", "getattr"} & set(before):
                changed = NAME.sub(lambda found: new(found[0]), token.string)
            elif re.match("[rR]?[fF]", token.string):
                changed = re.sub(r"\{[^{}]*\}", lambda found: NAME.sub(lambda one: new(one[0]), found[0]), changed)
        elif token.type == tokenize.COMMENT:
            changed = in_text(token.string)
        if changed != token.string:
            (line, column), (last_line, last_column) = token.start, token.end
            edits.append((starts[line - 1] + column, starts[last_line - 1] + last_column, changed))
        before = [*before[1:], token.string]
    for start, end, changed in reversed(edits):
        text = text[:start] + changed + text[end:]
    return text


def in_c(text: str, new: Callable[[str], str], in_text: Callable[[str], str]) -> str:
    """Return C with its names renamed by `new` and its strings and comments by `in_text`."""
    pieces, at = [], 0
    for found in C_TEXT.finditer(text):
        pieces += [NAME.sub(lambda one: new(one[0]), text[at : found.start()]), in_text(found[0])]
        at = found.end()
    return "".join([*pieces, NAME.sub(lambda one: new(one[0]), text[at:])])


def move(root: Path) -> dict[str, str]:
    """Move what `moves` lists, and return what each path and dotted name became."""
    became: dict[str, str] = {}
    for old, new in TABLE["moves"].items():
        if (root / old).exists():
            (root / new).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["git", "mv", old, new], cwd=root, check=True)  # noqa: S603, S607 - names of the table
            became = {key: new + path[len(old) :] if path.startswith(old) else path for key, path in became.items()}
            became[old] = new
    for old, new in list(became.items()):
        if old.startswith("native/"):
            became[old.removeprefix("native/")] = new.removeprefix("native/")
        dotted = [path.removesuffix(".py").replace("/", ".") for path in (old, new)]
        prefix = "tamis." if dotted[0].split(".")[0] in PACKAGES else ""
        became[prefix + dotted[0]] = prefix + dotted[1]
    return became


def main() -> None:
    """Print what the table renames, or do it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true")
    write = options.parse_args().write
    root = trees.ROOT
    became = move(root) if write else {}
    paths = re.compile(r"(?<![\w/.])(" + "|".join(sorted(map(re.escape, became), key=len, reverse=True)) + r")(?!\w)")
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for path in files(root):
        name = str(path.relative_to(root))
        try:
            text = path.read_text()
        except (UnicodeDecodeError, IsADirectoryError, FileNotFoundError):
            continue

        def new(old: str, name: str = name) -> str:
            now = renamed(old, name)
            if now != old:
                counts[old, now][name] += 1
            return now

        def in_text(body: str, name: str = name) -> str:
            return NAME.sub(lambda one: one[0] if is_english(one[0]) else renamed(one[0], name), body)

        walk = {".py": in_python, ".c": in_c, ".h": in_c}.get(path.suffix, lambda body, _, text_of: text_of(body))
        after = walk(paths.sub(lambda one: became[one[1]], text) if became else text, new, in_text)
        if write and after != text:
            path.write_text(after)
    for (old, now), where in sorted(counts.items(), key=lambda item: -item[1].total()):
        print(f"{old} -> {now}: {where.total()} in {len(where)} files")


if __name__ == "__main__":
    main()
