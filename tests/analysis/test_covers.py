from __future__ import annotations

import json
from random import Random

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.questions.covers import pairs
from tamis.analysis.questions.meaning import MessageBatch
from tamis.protocol.json_form import encode_filter
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.simulate.faults.faults import WISHES
from tamis.simulate.faults.workload import CONTENTS, Wish, wishes
from tests.analysis.containment import covered


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_covered_are_exactly_those_that_say_no_more_than_another(seed: int) -> None:
    plain = {written(wish): wish.plain for wish in wishes(WISHES, Random(seed))}
    forms = sorted(plain)
    found = pairs(forms)
    assert found == covered([plain[form] for form in forms])
    for narrow, wide in found:
        batch = MessageBatch.of(CONTENTS)
        tests = [[*map(batch.test, json.loads(forms[number]))] for number in (narrow, wide)]
        assert {*batch.satisfying(tests[0])} <= {*batch.satisfying(tests[1])}, (forms[narrow], forms[wide])


def written(wish: Wish) -> str:
    return json.dumps(encode_filter(decode_filter(wish.packed)))


def test_of_two_that_mean_the_same_one_is_covered() -> None:
    never, broken = '[["x","<",0],["x",">",1]]', "half"
    same = ['[["x",">=",1],["x","<=",2]]', '[["x","between",[1,2]]]', '[["x","=",3]]', never, broken]
    assert pairs(same) == [(1, 0)]
