"""The dialects by name; naming none loads none."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tamis.protocol import dialects
from tamis.protocol.errors import DialectError, Refused
from tests.protocol.dialects.tables import FOLDER


def test_each_dialect_has_its_name_and_a_table():
    assert [dialects.get(name).name for name in dialects.names()] == list(dialects.names())
    assert {path.stem for path in FOLDER.iterdir()} == set(dialects.names())


def test_an_unknown_dialect_is_refused_with_a_guess():
    with pytest.raises(Refused, match="there is no dialect 'mqt', did you mean mqtt"):
        dialects.get("mqt")


@pytest.mark.parametrize("name", dialects.names())
def test_a_text_that_is_too_long_or_no_text_is_refused(name):
    for text in ("x" * 65_537, "\udcff"):
        with pytest.raises(DialectError, match="line 1, column 1: "):
            dialects.get(name).translate(text)


def test_a_parser_is_loaded_when_a_dialect_with_a_grammar_is_named():
    code = (
        "import sys, tamis, tamis.protocol.dialects as d; d.names(); print('lark' in sys.modules);"
        "[d.get(name).translate(text) for name, text in (('mqtt', 'a/+'), ('nats', 'a.>'), ('amqp-topic', 'a.#'))];"
        "print('lark' in sys.modules); d.get('jms').translate('a = 1'); print('lark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.split() == ["False", "False", "True"]
