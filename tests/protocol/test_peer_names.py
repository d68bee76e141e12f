"""Names that a person can read, and text that does nothing where it is shown."""

from __future__ import annotations

import sys

import pytest

from tamis.protocol.errors import Refused
from tamis.protocol.language.literals import read_quoted
from tamis.protocol.peer_names import check_peer_name, generated_name, is_generated
from tamis.protocol.shown import escaped, shown


@pytest.mark.parametrize("name", ["press-1", "Köln 3", "печь", "炉/2", "a" * 256, "\u00e9", "a b", "\u0e01\u0e34"])
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
        ("desk ", "no space at its ends, and 'desk ' has one"),
        (" desk", "no space at its ends"),
        ("desk\u3000", "no space at its ends"),
        ("e\u0301", r"composed form \(NFC\): '\u00e9' is, 'e\\u0301' is not"),
        ("\u1112\u1161", "composed form"),
        ("a\u034fb", "mark that cannot be seen"),
        ("a\u3164b", "mark that cannot be seen"),
        ("a\ufe0f", "mark that cannot be seen"),
        ("a\U000e0100", "mark that cannot be seen"),
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


def test_a_generated_name_is_known_as_one():
    assert is_generated(check_peer_name(generated_name()))
    assert len({generated_name() for _ in range(100)}) == 100
    for name in (
        "client",
        "client-7",
        "client-" + "A" * 16,
        "client-" + "a" * 17,
        "client-" + "a" * 16 + "\n",
        "press-1",
    ):
        assert not is_generated(name)
