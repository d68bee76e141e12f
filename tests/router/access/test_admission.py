"""Clients of a router with rules: who comes in, as which principal, and what guards it."""

from __future__ import annotations

import pytest

from tamis.protocol.wire.client_bodies import Ack
from tamis.protocol.wire.codes import ErrorCode, RefusalCode
from tamis.protocol.wire.header import Flags
from tamis.protocol.wire.session_bodies import Error
from tests.router.access.rules import token_of, written
from tests.router.wire_client import auth, hello

ROLES = {
    "sensor": {"publish": "kind = 'reading' and device = '${name}'", "stamp": {"device": "${name}"}},
    "board": {"subscribe": {"allow": "kind = 'reading'", "deny": "exists salary"}},
    "idle": {},
}
RULES = written(ROLES, {"fleet": "sensor", "fleet/special": "idle", "board": "board"})


async def refused(router, name: str, token: bytes) -> Error:
    client = await router.stranger()
    await client.send(hello(name))
    await client.next()
    await client.send(auth(token))
    return await client.next(Error)


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("fleet", b"another token"),
        ("nobody", token_of("fleet")),
        ("fleet2", token_of("fleet")),
        ("board", token_of("fleet")),
        ("fleet/special", token_of("fleet")),
        ("fleet/special/1", token_of("fleet")),
    ],
)
async def test_a_client_without_the_token_of_its_principal_is_refused(inside, name, token) -> None:
    router = inside(access=RULES)
    assert (await refused(router, name, token)).code == ErrorCode.AUTHENTICATION_FAILED
    assert not router.clients.names


@pytest.mark.parametrize(
    ("name", "line", "roles"),
    [
        ("fleet", "fleet", {"sensor"}),
        ("fleet/7", "fleet", {"sensor"}),
        ("fleet/7/x", "fleet", {"sensor"}),
        ("fleet/special", "fleet/special", {"idle"}),
        ("fleet/special/x", "fleet/special", {"idle"}),
    ],
)
async def test_the_principal_is_the_longest_line(inside, name, line, roles) -> None:
    router = inside(access=RULES)
    await router.client(name, token=token_of(line))
    admitted = router.clients.names[name].admitted
    assert (admitted.principal, admitted.roles) == (line, roles)


async def asked(client, attributes: dict[str, object]) -> list[str]:
    """Publish a message; return the reasons of its refusal."""
    await client.publish(attributes, flags=Flags.CONFIRM)
    ack = await client.next(Ack)
    assert all(each.code == RefusalCode.NOT_ALLOWED for each in ack.refusals)
    return [each.reason for each in ack.refusals]


async def test_messages_pass_the_door_and_the_hand_of_their_classes(inside) -> None:
    router = inside(access=RULES)
    sensor = await router.client("fleet/7", token=token_of("fleet"))
    board = await router.client("board", token=token_of("board"))
    await board.subscribe(1, "true")
    [reason] = await asked(sensor, {"kind": "other"})
    assert 'role sensor allows publish where device = "${name}" and kind = "reading"' in reason
    assert 'kind = "reading" does not hold' in reason
    [reason] = await asked(sensor, {"kind": "reading", "device": "fleet/8"})
    assert reason == "role sensor stamps device, which a client may not set"
    assert await asked(sensor, {"kind": "reading", "salary": 3}) == []
    assert await asked(sensor, {"kind": "reading", "n": 1}) == []
    assert await board.delivered() == {"kind": "reading", "n": 1, "device": "fleet/7"}
    assert await asked(board, {"kind": "reading"}) == ["no role allows publish"]


async def test_a_class_has_its_guards_while_it_has_clients(inside) -> None:
    router = inside(access=RULES)
    access = router.clients.access

    def guards() -> int:
        return sum(1 for _ in [each for held in access._classes.values() for each in held._shared])

    assert guards() == 0
    fleet = [await router.client(f"fleet/{number}", token=token_of("fleet")) for number in range(5)]
    assert guards() == 2
    board = await router.client("board", token=token_of("board"))
    assert guards() == 4
    await board.close()
    await router.until(lambda: guards() == 2)
    for client in fleet:
        await client.close()
    await router.until(lambda: guards() == 0)


async def test_observing_counts_and_lets_pass(inside) -> None:
    router = inside(access=written(ROLES, {"fleet": "sensor", "board": "board"}, mode="observe"))
    sensor = await router.client("fleet", token=token_of("fleet"))
    board = await router.client("board", token=token_of("board"))
    await board.subscribe(1, "true")
    assert await asked(sensor, {"kind": "other"}) == []
    assert await board.delivered() == {"kind": "other", "device": "fleet"}
    figures = router.clients.access.figures()
    assert (figures.refused, figures.withheld) == (1, 1)
