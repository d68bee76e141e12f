from __future__ import annotations

import json
from random import Random

import pytest

pytest.importorskip("pyspark")

from tamis.analysis.covers import pairs
from tamis.analysis.meaning import Batch
from tamis.protocol.json_form import encode_filter
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.simulate.faults import WISHES
from tamis.simulate.workload import CONTENTS, wishes


def test_what_is_covered_matches_nothing_else() -> None:
    packed = {wish.packed for wish in wishes(WISHES, Random(1))}
    forms = sorted(json.dumps(encode_filter(decode_filter(each))) for each in packed)
    matched = [set(map(int, Batch(CONTENTS).matching(json.loads(form)))) for form in forms]
    found = pairs(forms)
    assert found
    for narrow, wide in found:
        assert matched[narrow] <= matched[wide], (forms[narrow], forms[wide])


def test_of_two_that_mean_the_same_one_is_covered() -> None:
    never, broken = '[["x","<",0],["x",">",1]]', "half"
    same = ['[["x",">=",1],["x","<=",2]]', '[["x","between",[1,2]]]', '[["x","=",3]]', never, broken]
    assert pairs(same) == [(1, 0)]
