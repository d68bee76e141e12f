"""The words that are written by hand in docs/ have a bound.

Words are counted as `wc -w` does. A page whose head says that it is printed is not counted, nor is what stands between
the marks of a part that a command prints.
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
WORDS_MAX = 97_000
HEAD_CHARS = 1_500
PRINTED_PAGE = re.compile(r"[Pp]rinted (?:by|from)\b.*?do\s+not\s+edit", re.DOTALL)
PRINTED_PART = re.compile(r"<!-- made by python -m .*?<!-- end of .*?-->", re.DOTALL)


def words_by_hand(page: str) -> int:
    """Return how many words of a page are not printed by a command."""
    return 0 if PRINTED_PAGE.search(page[:HEAD_CHARS]) else len(PRINTED_PART.sub("", page).split())


def test_pages_written_by_hand_have_few_words() -> None:
    words = {str(page.relative_to(DOCS)): words_by_hand(page.read_text()) for page in DOCS.rglob("*.md")}
    largest_first = sorted(words.items(), key=lambda item: -item[1])
    by_page = "\n".join(f"{count:6,} {page}" for page, count in largest_first if count)
    assert sum(words.values()) <= WORDS_MAX, f"{sum(words.values()):,} words, {WORDS_MAX:,} allowed\n{by_page}"


def test_what_is_printed_does_not_count() -> None:
    pages = {str(page.relative_to(DOCS)): words_by_hand(page.read_text()) for page in sorted(DOCS.rglob("*.md"))}
    assert [name for name, words in pages.items() if not words] == [
        "design/files.md",
        *(f"reference/{name}.md" for name in ("access", "cli", "numbers", "records", "topology")),
    ]
    part = "<!-- made by python -m tests.docs.rooms -->\nnine\n<!-- end of the rooms -->\n"
    assert words_by_hand(f"# Two words\n{part}one `x=1`\n") == 5
