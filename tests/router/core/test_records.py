"""What crosses the border of the core, and the delays that the rules name."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import get_args

import pytest

from tamis.protocol.limits import STATEMENT_BYTES_MAX
from tamis.router.core.commands import ANY_EPOCH, Command
from tamis.router.core.core import CoreParts, CoreSettings
from tamis.router.core.events import Event
from tamis.router.core.statements.rib import PENDING_MAX
from tamis.router.core.strategies.paper import ADVERTISE_EVERY_US, REQUEST_EVERY_US
from tamis.router.core.times import Times
from tamis.router.links.covering import FILTERS_MAX

SECOND_US = 1_000_000


@pytest.mark.parametrize("kind", [*get_args(Event), *get_args(Command), CoreSettings, CoreParts, Times])
def test_a_fact_cannot_be_changed_afterwards(kind):
    record = kind(*range(len(fields(kind))))
    assert not hasattr(record, "__dict__")
    for name in (field.name for field in fields(kind)):
        with pytest.raises(FrozenInstanceError):
            setattr(record, name, None)


def test_the_delays_are_those_of_the_rules():
    times = Times()
    assert (times.damp_first_us, times.damp_narrow_max_us) == (SECOND_US // 10, 5 * SECOND_US), "R1"
    assert times.damp_widen_max_us == times.topology_damp_max_us == SECOND_US
    assert times.base_wait_us == SECOND_US // 10, "R2"
    assert times.tree_hold_us == times.narrow_hold_us == 2 * SECOND_US, "R5b, R7"
    assert times.age_out_us == 600 * SECOND_US, "R8"
    assert times.retry_us == times.answer_every_us == SECOND_US
    assert times.request_every_us == 45 * SECOND_US, "R10: 30 to 60 s"
    assert (times.held_merge_us, times.reroute_every_us, times.audit_us) == (5_000, 20_000, 5 * SECOND_US)


def test_the_delays_of_the_paper_are_of_the_order_of_those():
    assert (ADVERTISE_EVERY_US, REQUEST_EVERY_US) == (20 * SECOND_US, 60 * SECOND_US)


def test_the_bounds_are_those_that_the_documentation_names():
    assert (FILTERS_MAX, STATEMENT_BYTES_MAX, PENDING_MAX) == (200_000, 2**20, 1_024)


def test_the_epoch_that_bounds_nothing_is_the_highest_that_64_bits_hold():
    assert ANY_EPOCH == 0xFFFF_FFFF_FFFF_FFFF
