"""The tool that renames: what is code, what is text, and that its table fits the tree."""

from __future__ import annotations

from tests import trees
from tests.renames.__main__ import TABLE, in_c, in_python, is_english, renamed


def new(name: str) -> str:
    return {"keep": "durable", "tm_keep": "tm_durable"}.get(name, name)


def in_text(text: str) -> str:
    return text.replace("tm_keep", "tm_durable")


def test_names_of_code_change_and_words_of_sentences_do_not():
    before = 'keep = f"{keep} of tm_keep, keep it"  # keep tm_keep\n'
    assert in_python(before, new, in_text) == 'durable = f"{durable} of tm_durable, keep it"  # keep tm_durable\n'
    assert in_c("tm_keep *keep; /* keep a tm_keep */", new, in_text) == "tm_durable *durable; /* keep a tm_durable */"


def test_words_inside_a_name_keep_their_case_and_verbs_stay():
    names = ("KEEP_NONE", "tm_keeps_append", "KeepFigures", "keep_alive", "last_keep_alive")
    assert [renamed(name, "native/any.c") for name in names] == [
        *("DURABLE_NONE", "tm_durables_append", "DurableFigures"),
        *("keep_alive", "last_keep_alive"),
    ]
    assert [name for name in ("keep", "Keep", "KEEP", "keep_at", "KeepTerms") if is_english(name)] == ["keep", "Keep"]


def test_what_the_table_moves_is_there():
    gone = [old for old in TABLE["moves"] if not (trees.ROOT / old).exists()]
    assert gone == [], "drop them from the table"
