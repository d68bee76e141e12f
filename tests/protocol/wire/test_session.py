"""Connections as tables: every pair of state and kind, on both sides of both sorts of connection."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.session import CLIENT_CONNECTION, LINK, Session, SessionState, Sides

SORTS = pytest.mark.parametrize("sides", [CLIENT_CONNECTION, LINK], ids=["client", "link"])
PAIRS = list(product(SessionState, FrameKind))
GREETING = [FrameKind.HELLO, FrameKind.WELCOME, FrameKind.AUTH, FrameKind.AUTHENTICATED]


def in_state(sides: Sides, is_connector: bool, state: SessionState) -> Session:
    session = Session(sides, is_connector)
    session.state = state
    return session


@SORTS
@pytest.mark.parametrize("is_connector", [True, False])
def test_every_pair_moves_as_the_table_says_or_is_refused(sides: Sides, is_connector: bool) -> None:
    ours, theirs = sides if is_connector else (sides.acceptor, sides.connector)
    for state, kind in PAIRS:
        session = in_state(sides, is_connector, state)
        if (state, kind) in ours:
            session.sent(kind)
            assert session.state is ours[state, kind]
        else:
            with pytest.raises(Refused):
                session.sent(kind)
            assert session.state is state
        session = in_state(sides, is_connector, state)
        if (state, kind) in theirs:
            session.received(kind)
            assert session.state is theirs[state, kind]
        else:
            with pytest.raises(FrameError) as caught:
                session.received(kind)
            assert caught.value.code == ErrorCode.UNEXPECTED_KIND
            assert session.state is state


@SORTS
def test_the_greeting_is_the_only_way_to_open(sides: Sides) -> None:
    connector, acceptor = Session(sides, True), Session(sides, False)
    for number, kind in enumerate(GREETING):
        speaker, listener = (connector, acceptor) if number % 2 == 0 else (acceptor, connector)
        allowed = {kind for (state, kind), after in sides[number % 2].items() if state is speaker.state}
        assert allowed == {kind, FrameKind.ERROR}
        speaker.sent(kind)
        listener.received(kind)
        assert connector.state is acceptor.state
    assert connector.state is SessionState.OPEN
    into_open = {
        (state, kind) for table in sides for (state, kind), after in table.items() if after is SessionState.OPEN
    }
    assert {pair for pair in into_open if pair[0] is not SessionState.OPEN} == {
        (SessionState.VERDICT_DUE, FrameKind.AUTHENTICATED)
    }


@SORTS
def test_nothing_but_the_greeting_passes_before_authentication(sides: Sides) -> None:
    """Invariant 12: no filter, no message, no advertisement from a stranger."""
    for table in sides:
        early = {kind for state, kind in table if "due" in state.value}
        assert early <= {*GREETING, FrameKind.ERROR}


@SORTS
def test_nothing_passes_when_closed(sides: Sides) -> None:
    assert not [pair for table in sides for pair in table if pair[0] is SessionState.CLOSED]


@SORTS
def test_every_state_but_the_last_has_a_way_on(sides: Sides) -> None:
    reachable, ahead = {SessionState.HELLO_DUE}, [SessionState.HELLO_DUE]
    while ahead:
        here = ahead.pop()
        after = {to for table in sides for (state, _), to in table.items() if state is here} - reachable
        reachable |= after
        ahead += after
    assert reachable == set(SessionState)


REPORTS = "TRACE_RECORD DRY_RUN_REPORT"
DURABLES = "CREATE_DURABLE CONSUME CANCEL_CONSUME REMOVE_DURABLE LIST_DURABLES GET"
STATEMENTS = "LSA RA SR UR HELD EPOCH_REFUSED EA EH ER SPACE DURABLES DURABLES_HELD "
STATEMENTS += "DIRECTED CUSTODY_ACK CUSTODY_ASK GAP REMOTE FINISHED"


@pytest.mark.parametrize(
    ("sides", "side", "kinds"),
    [
        (
            CLIENT_CONNECTION,
            0,
            f"PUBLISH DRY_RUN SUBSCRIBE UNSUBSCRIBE ACK CREDIT AUTH {DURABLES} REPLAY PING PONG ERROR DRAIN",
        ),
        (
            CLIENT_CONNECTION,
            1,
            f"DELIVER ACK CREDIT LOST REPLAY_END DURABLES_LISTED {REPORTS} GO_AWAY PING PONG ERROR DRAIN",
        ),
        (LINK, 0, f"PUBLISH DRY_RUN LOST {REPORTS} {STATEMENTS} PING PONG ERROR DRAIN"),
        (LINK, 1, f"PUBLISH DRY_RUN LOST {REPORTS} {STATEMENTS} PING PONG ERROR DRAIN"),
    ],
)
def test_what_passes_when_open(sides: Sides, side: int, kinds: str) -> None:
    assert {kind.name for state, kind in sides[side] if state is SessionState.OPEN} == set(kinds.split())


@SORTS
def test_who_drains_begins_nothing_new_and_the_other_side_is_free(sides: Sides) -> None:
    for side, own, both in (
        (0, SessionState.CONNECTOR_DRAINING, SessionState.ACCEPTOR_DRAINING),
        (1, SessionState.ACCEPTOR_DRAINING, SessionState.CONNECTOR_DRAINING),
    ):

        def passes(state: SessionState, table=sides[side]) -> set[FrameKind]:
            return {kind for at, kind in table if at is state}

        assert passes(own) < passes(SessionState.OPEN)
        assert FrameKind.DRAIN not in passes(own)
        assert passes(both) == passes(SessionState.OPEN)
        assert passes(SessionState.BOTH_DRAINING) == passes(own)


@SORTS
@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(list(FrameKind))), max_size=30))
def test_two_ends_that_talk_in_order_agree(sides: Sides, script: list[tuple[bool, FrameKind]]) -> None:
    connector, acceptor = Session(sides, True), Session(sides, False)
    for number, kind in enumerate(GREETING):
        (connector, acceptor)[number % 2].sent(kind)
        (acceptor, connector)[number % 2].received(kind)
    for from_connector, kind in script:
        speaker, listener = (connector, acceptor) if from_connector else (acceptor, connector)
        try:
            speaker.sent(kind)
        except Refused:
            continue
        listener.received(kind)
        assert connector.state is acceptor.state


def test_drains_may_cross() -> None:
    connector, acceptor = (in_state(LINK, is_connector, SessionState.OPEN) for is_connector in (True, False))
    connector.sent(FrameKind.DRAIN)
    acceptor.sent(FrameKind.DRAIN)
    acceptor.sent(FrameKind.PUBLISH)
    connector.received(FrameKind.DRAIN)
    acceptor.received(FrameKind.DRAIN)
    connector.received(FrameKind.PUBLISH)
    assert connector.state is acceptor.state is SessionState.BOTH_DRAINING


def test_an_acceptor_learns_from_hello_what_it_faces() -> None:
    acceptor = Session(CLIENT_CONNECTION, False)
    acceptor.received(FrameKind.HELLO)
    acceptor.use(LINK)
    acceptor.sent(FrameKind.WELCOME)
    acceptor.received(FrameKind.AUTH)
    acceptor.sent(FrameKind.AUTHENTICATED)
    acceptor.received(FrameKind.LSA)
    acceptor.closed()
    with pytest.raises(FrameError):
        acceptor.received(FrameKind.LSA)
