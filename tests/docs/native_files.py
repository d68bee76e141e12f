"""The page of C files: what each file of `native/` is for, by folder, read from the comment it opens with.

    python -m tests.docs.native_files > docs/design/files.md

Law: the first sentence of a file, `/* name.c - what it is for`, is the only place where this is written down; a .c file
that says "see name.h" has the sentence of its header.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

NATIVE = Path(__file__).parents[2] / "native"
_INTRO = """\
# The C files

What each file of `native/` is for, in its own words. Printed by `python -m tests.docs.native_files`; do not edit.
How they work together: [the matcher](matcher.md), [the switch](switch.md), [durable subscriptions](durable.md).
"""


def page() -> str:
    """The whole page as text: a table for each folder, a row for each header and .c file of one name."""
    tables = []
    for folder, stems in _folders().items():
        rows = [f"| {_names(paths)} | {_purpose(paths)} |" for _, paths in sorted(stems.items())]
        title = "/".join(("native", *folder.parts))
        tables.append("\n".join([f"## `{title}/`\n", "| file | what it is for |", "|---|---|", *rows]) + "\n")
    return "\n".join([_INTRO, *tables])


def sources() -> list[Path]:
    """Every C file that people write, without those of tests."""
    found = (path for path in NATIVE.rglob("*.[ch]") if path.name != "_tm.c")
    return sorted(path for path in found if "tests" not in path.relative_to(NATIVE).parts)


def purpose(path: Path) -> str | None:
    """The first sentence of `path`, without its name; None if it does not say what the file is for."""
    opening = re.match(
        rf"/\* (?:\w+/)*{re.escape(path.name)} - (.*?)(?:\*/|\n \*\n|\n \* Law:)", path.read_text(), re.DOTALL
    )
    if not opening:
        return None
    text = re.sub(r"\s*\n \*\s*", " ", opening[1]).strip()
    sentence = re.split(r"(?<=\.) (?=[A-Z])", text)[0].rstrip(".:")
    return None if sentence.startswith("see ") else sentence


def _folders() -> dict[Path, dict[str, list[Path]]]:
    folders: dict[Path, dict[str, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for path in sources():
        folders[path.parent.relative_to(NATIVE)][path.stem].append(path)
    return folders


def _names(paths: list[Path]) -> str:
    return ", ".join(f"`{path.name}`" for path in reversed(paths))


def _purpose(paths: list[Path]) -> str:
    """That of the header where both have one."""
    told = [text for text in map(purpose, reversed(paths)) if text]
    return told[0].replace("|", "\\|") if told else ""


if __name__ == "__main__":
    sys.stdout.write(page())
