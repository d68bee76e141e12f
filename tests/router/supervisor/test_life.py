"""The table of a supervised process's life, and how long it waits."""

from __future__ import annotations

from itertools import product

import pytest

from tamis.router.supervisor.life import TRANSITIONS, Deaths, LifeEvent, ProcessState, RestartPolicy

ASKED = LifeEvent.START_ASKED
NEVER = {
    # only a process that runs can end or speak
    *product(
        (ProcessState.RESTARTING, ProcessState.STOPPED, ProcessState.FAILED),
        (LifeEvent.SAID_READY, LifeEvent.ENDED, LifeEvent.ENDED_TOO_OFTEN, LifeEvent.ENDED_FOR_GOOD),
    ),
    # only what stands still is asked to start; a pause is cut short instead
    *product(set(ProcessState) - {ProcessState.STOPPED, ProcessState.FAILED}, (LifeEvent.START_ASKED,)),
    # only a pause can be over
    *product(set(ProcessState) - {ProcessState.RESTARTING}, (LifeEvent.PAUSE_OVER,)),
    (ProcessState.READY, LifeEvent.SAID_READY),
    (ProcessState.READY, LifeEvent.ENDED_FOR_GOOD),
}


@pytest.mark.parametrize(
    "pair", list(product(ProcessState, LifeEvent)), ids=lambda pair: f"{pair[0]}-{pair[1].name.lower()}"
)
def test_every_pair_has_its_place(pair) -> None:
    assert (pair in TRANSITIONS) is (pair not in NEVER)


def test_what_is_asked_to_stop_never_starts_again_by_itself() -> None:
    assert all((state, LifeEvent.STOP_ASKED) in TRANSITIONS for state in ProcessState)
    reached = {TRANSITIONS[state, LifeEvent.STOP_ASKED] for state in ProcessState}
    while more := {to for (state, by), to in TRANSITIONS.items() if state in reached and by is not ASKED} - reached:
        reached |= more
    assert reached == {ProcessState.STOPPING, ProcessState.STOPPED, ProcessState.FAILED}


def test_pauses_double_up_to_a_bound() -> None:
    deaths = Deaths(RestartPolicy(pause_s_min=0.5, pause_s_max=3.0, steady_s=10.0, deaths_max=6))
    seen = []
    for _ in range(5):
        assert deaths.after(1.0) is LifeEvent.ENDED
        seen.append(deaths.pause_s)
    assert seen == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert deaths.after(1.0) is LifeEvent.ENDED_TOO_OFTEN


def test_a_process_that_was_steady_begins_anew() -> None:
    deaths = Deaths(RestartPolicy(pause_s_min=0.5, pause_s_max=3.0, steady_s=10.0, deaths_max=3))
    deaths.after(1.0)
    deaths.after(1.0)
    assert deaths.after(10.0) is LifeEvent.ENDED
    assert deaths.pause_s == 0.5
