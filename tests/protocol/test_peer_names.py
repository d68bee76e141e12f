"""Names that a person can read, and text that does nothing where it is shown."""

from __future__ import annotations

import sys

import pytest

from tamis.protocol.errors import Refused
from tamis.protocol.language.literals import read_quoted
from tamis.protocol.peer_names import check_peer_name
from tamis.protocol.shown import escaped, shown


@pytest.mark.parametrize("name", ["press-1", "Köln 3", "печь", "炉/2", "a" * 256, "e\u0301"])
def test_names_that_may_be(name):
    assert check_peer_name(name) == name


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("", "empty"),
        ("a" * 257, "257"),
        ("\x1b]0;owned\x07", "control character, \\\\x1b"),
        ("a\nb", "control character, \\\\n"),
        ("a\x7f", "control"),
        ("a\x9b", "control"),
        ("a\u202egnp.exe", "\\\\u202e"),
        ("a\u2066", "invisible"),
        ("a\u200bb", "invisible"),
        ("\ufeffa", "invisible"),
        ("a\u2028", "line separator"),
        ("a\u2029", "paragraph separator"),
        ("a\ue000", "private"),
        ("a\U000f0000", "private"),
        ("a\ud800", "surrogate"),
    ],
)
def test_names_that_may_not_be(name, what):
    with pytest.raises(Refused, match=what):
        check_peer_name(name)


def test_what_is_shown_is_printable_and_reads_back():
    text = "".join(map(chr, [*range(0x3000), 0xFEFF, 0xE000, 0x1F600, 0xE0001]))
    assert shown(text).isprintable()
    assert shown("Köln: 3 > 2") == "Köln: 3 > 2"
    assert shown("a\nb\x1b", keep="\n") == "a\nb\\x1b"
    for char in ("\n", "\x1b", "\u202e", "\U000e0001"):
        assert read_quoted(f'"{escaped(char)}"', 0) == char
    assert sys.maxunicode == 0x10FFFF
