"""Each dialect by its table of cases: the judge agrees with the table, and the translation with both."""

from __future__ import annotations

import pytest

from tamis.protocol import dialects
from tamis.protocol.errors import DialectError
from tamis.protocol.normal import normalize_predicate
from tests.protocol.dialects.agreement import check
from tests.protocol.dialects.judges import JUDGES
from tests.protocol.dialects.tables import cases_of, rules_of

CASES = [(name, case) for name in dialects.names() for case in cases_of(name)]


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case.filter}" for name, case in CASES])
def test_a_case(name, case):
    dialect = dialects.get(name)
    if case.refused:
        with pytest.raises(DialectError) as caught:
            dialect.translate(case.filter)
        assert str(caught.value).startswith(case.refused)
        return
    assert case.events
    found = dialect.translate(case.filter)
    assert (found.exact, found.decided) == (not case.width, case.width != "undecided"), found.needs
    assert found.predicate == normalize_predicate(found.predicate)
    for wanted, event in case.events:
        assert JUDGES[name](case.filter, event) is wanted, f"the judge errs about {event}"
        check(dialect, found, event, wanted)


def test_every_dialect_has_cases_of_each_kind():
    for name in dialects.names():
        cases = cases_of(name)
        assert len(cases) >= 15
        assert {wanted for case in cases for wanted, _ in case.events} == {True, False}


@pytest.mark.parametrize("name", dialects.names())
def test_every_table_says_which_rules_it_keeps(name):
    rules = rules_of(name)
    assert len(rules) >= 3
    assert [rule for rule, filters in rules.items() if not filters] == []
