"""The logs that are analysed come of sound filters and messages; figures come out as a table."""

from __future__ import annotations

import pytest

from tamis.bench.logs.analysis.__main__ import table
from tamis.bench.logs.analysis.measured import Figures
from tamis.bench.logs.analysis.ring import MESSAGES, ROUTERS, messages, predicates
from tamis.native import InterfaceKind, Table
from tamis.protocol.language import parse


@pytest.mark.slow
def test_a_few_filters_want_a_message() -> None:
    wanted = [filter_ for text in predicates(10_000) for filter_ in parse(text).filters]
    said = list(messages())
    assert len(wanted) == 10_000
    assert len(said) == MESSAGES
    assert {router for router, _ in said} == set(ROUTERS)
    with Table() as table_:
        table_.set_interface(0, InterfaceKind.CLIENT)
        for filter_ in wanted:
            table_.add(filter_, 0)
        found = sum(len(table_.match_all(message)) for _, message in said)
    assert 3 * MESSAGES < found < 7 * MESSAGES


def test_figures_as_a_table() -> None:
    figures = Figures("audit", "local[2]", 1_000_000, 50.0, {"reading": 20.0, "delivery": 30.0}, 10**9, 10**8, 123)
    assert "20,000" in table([figures])
