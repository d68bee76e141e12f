"""The commands that pages tell their readers to type.

Law: a command is a line of a code block (fenced as text of a shell, or indented) that begins with a prompt, or in a
block without prompts with the name of a program; lines that end in a backslash go on. A comment above the block,
`<!-- not run: REASON -->`, says why no test runs the block's commands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")] + sorted(ROOT.glob("docs/**/*.md"))
_SHELLS = ("", "sh", "console", "shell-session")
_PROGRAM = re.compile(
    r"(\.venv/bin/\w+|tamis|make|python3?|pip|docker|docker-compose|kubectl|systemctl|curl|openssl|git|patch|install)\s"
)
_SYNOPSIS = re.compile(r"\[(--|[A-Z])")
"""How a synopsis is told from a command."""
_NOT_RUN = re.compile(r"<!-- not run: (\S.*) -->")


@dataclass(frozen=True)
class PageCommand:
    """`page` is its path from the root of the checkout; `reason` says why it is not run, or is empty."""

    page: str
    line: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"

    def invocations(self) -> Iterator[list[str]]:
        """The words of each program that it starts: of pipes, lists, subshells and variables before them."""
        words = shlex.shlex(self.text, posix=True, punctuation_chars=True)
        words.whitespace_split, words.commenters = True, "#"
        run: list[str] = []
        for word in words:
            if re.fullmatch(r"[();<>|&]+", word):
                yield run
                run = [] if word[0] not in "<>" else ["redirected"]
            elif run or not re.match(r"[A-Z_]+=", word):
                run.append(word)
        yield run


@dataclass(frozen=True)
class Block:
    line: int
    lines: list[str]
    reason: str


def commands_of(page: Path) -> list[PageCommand]:
    return commands_in(page.read_text(), str(page.relative_to(ROOT)))


def commands_in(text: str, page: str) -> list[PageCommand]:
    return [
        PageCommand(page, block.line + at, typed, block.reason)
        for block in blocks(text)
        for at, typed in _typed(block.lines)
    ]


def blocks(text: str) -> Iterator[Block]:
    """Each code block, with the reason of the comment that stands directly above it."""
    lines = [*text.splitlines(), ""]
    at, reason = 0, ""
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if line.startswith("```"):
            while lines[end] != "```":
                end += 1
            if line[3:].partition(" ")[0] in _SHELLS:
                yield Block(at + 2, lines[at + 1 : end], reason)
            end += 1
        elif line.startswith("    "):
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end]):
                end += 1
            yield Block(at + 1, [each[4:] for each in lines[at:end]], reason)
        else:
            told = _NOT_RUN.fullmatch(line)
            reason = told[1] if told else reason if not line else ""
            at = end
            continue
        at, reason = end, ""


def _typed(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The commands among the lines of a block, each with the place of its first line."""
    has_prompts = any(line.startswith("$ ") for line in lines)
    at = 0
    while at < len(lines):
        begins = at
        is_typed = lines[at].startswith("$ ") if has_prompts else _PROGRAM.match(lines[at] + " ")
        if is_typed and not _SYNOPSIS.search(lines[at]):
            text = lines[at].removeprefix("$ ")
            while text.endswith("\\"):
                at += 1
                text = text[:-1] + lines[at].strip()
            yield begins, text
        at += 1
