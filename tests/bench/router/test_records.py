"""The benchmark of records passes its messages whatever is recorded."""

from __future__ import annotations

import pytest

from tamis.bench.router.records import CHOICES, around
from tamis.bench.router.transit import Router, fed


@pytest.mark.parametrize("choice", CHOICES)
def test_messages_pass_whatever_is_recorded(choice: str, capsys) -> None:
    assert fed(Router("alone", 3), 800, around(choice)) > 0
    assert capsys.readouterr().out == ""
