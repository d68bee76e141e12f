"""Durable subscriptions under rules: who may ask for what, and what is stored and handed to whom, by real clients."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tamis
from tamis.blocking import Consumer, connect
from tamis.cli.reach.admin_http import asked
from tamis.testing import blocking, free_port
from tamis.testing.blocking import BlockingRouter
from tests.router.access.issuing import AUDIENCE, ISSUER, Key, claims
from tests.router.access.ruled_router import PATIENCE_S, RuledRouter
from tests.router.access.rules import token_of, written

QUIET_S = 0.4
pytestmark = pytest.mark.slow

WORKER = {
    "durable": {"names": ["orders-*", "${name}-*"], "of": 'kind = "order"', "bytes": "1 GiB"},
    "subscribe": {"allow": "open = true", "deny": "exists salary"},
}
PRINCIPALS = {"maker": "worker", "helper": "helper", "viewer": "viewer", "all": "all", "none": "none"}


def rules(worker: dict[str, object] = WORKER, helper: str = 'kind = "order"') -> str:
    roles = {
        "worker": worker,
        "helper": {"consume": "orders-*", "subscribe": helper},
        "viewer": {"inspect": "*", "replay": {"allow": "n > 1"}, "subscribe": {"deny": "n = 3"}, "admin": "viewer"},
        "all": {"publish": "true"},
        "none": {},
    }
    return written(roles, PRINCIPALS)


class Router(RuledRouter):
    def publish(self, *messages: dict[str, object]) -> None:
        with self.client("all") as publisher:
            for each in messages:
                publisher.publish(each, confirm="stored")


@pytest.fixture
def router(tmp_path: Path) -> Iterator[Router]:
    with Router.started(tmp_path, rules(), f'clients: "127.0.0.1:{free_port()}"') as each:
        yield each


def numbers(work: Consumer, count: int) -> list[object]:
    """The attribute `n` of the next messages, which are acknowledged; nothing follows them."""
    found = []
    for _ in range(count):
        message = work.receive(PATIENCE_S)
        assert isinstance(message, tamis.blocking.StoredMessage), message
        found.append(message["n"])
        message.ack()
    with contextlib.suppress(TimeoutError):
        raise AssertionError(work.receive(QUIET_S))
    return found


def refused(what: object) -> str:
    with pytest.raises(tamis.TamisError) as caught:
        what()  # type: ignore[operator]
    return str(caught.value)


def test_names_predicates_and_bytes_are_those_of_a_role(router: Router) -> None:
    with router.client("maker") as maker, router.client("none") as none:
        maker.durable("orders-eu", 'kind = "order" and n > 0', bytes=2**20)
        maker.durable("maker-own", 'kind = "order"', bytes=2**20)
        assert "orders-*" in refused(lambda: maker.durable("bills", 'kind = "order"'))
        assert "no message satisfies" in refused(lambda: maker.durable("orders-x", 'kind = "bill"'))
        assert "role worker allows" in refused(lambda: maker.durable("orders-y", 'kind = "order"', bytes=2**40))
        assert "no role allows make" in refused(lambda: none.durable("orders-z", 'kind = "order"'))


def test_who_may_not_consume_hears_what_it_hears_of_a_name_that_is_not_there(router: Router) -> None:
    with router.client("maker") as maker, router.client("none") as none, router.client("helper") as helper:
        maker.durable("orders-eu", 'kind = "order"', bytes=2**20)
        maker.durable("maker-own", 'kind = "order"', bytes=2**20)
        there = refused(lambda: none.consume("orders-eu").__enter__())
        absent = refused(lambda: none.consume("orders-no").__enter__())
        assert there.replace("eu", "no") == absent
        assert refused(lambda: helper.consume("maker-own").__enter__()).replace("own", "no") == refused(
            lambda: helper.consume("maker-no").__enter__()
        )


def test_what_is_stored_is_what_the_owner_may_have(router: Router) -> None:
    with router.client("maker") as maker:
        maker.durable("orders-eu", "n > 0", bytes=2**20)
        router.publish(
            {"kind": "order", "n": 1},
            {"kind": "bill", "n": 2},
            {"kind": "order", "n": 3, "salary": 1},
            {"open": True, "n": 4},
            {"kind": "order", "n": 0},
        )
        with maker.consume("orders-eu") as work:
            assert numbers(work, 2) == [1, 4]


def test_a_consumer_gets_what_it_may_get_and_the_rest_waits_for_others(router: Router) -> None:
    with router.client("maker") as maker, router.client("helper") as helper:
        maker.durable("orders-eu", "n > 0", bytes=2**20)
        router.publish({"kind": "order", "n": 1}, {"open": True, "n": 2}, {"kind": "order", "n": 3})
        with helper.consume("orders-eu") as work:
            assert numbers(work, 2) == [1, 3]
        with maker.consume("orders-eu") as work:
            assert numbers(work, 1) == [2]


def test_what_is_held_back_comes_back_with_the_rules(router: Router) -> None:
    with router.client("maker") as maker:
        maker.durable("orders-eu", "n > 0", bytes=2**20)
        with maker.consume("orders-eu") as work:
            router.publish({"kind": "order", "n": 1}, {"open": True, "n": 2})
            assert numbers(work, 2) == [1, 2]
            router.change(rules(WORKER | {"subscribe": {"deny": "n > 5"}}))
        router.publish({"kind": "order", "n": 3}, {"open": True, "n": 4}, {"kind": "order", "n": 6})
        router.change(rules(WORKER | {"durable": {"names": "orders-*"}}))
        with maker.consume("orders-eu") as work:
            assert numbers(work, 0) == []
            router.publish({"open": True, "n": 7})
            assert numbers(work, 1) == [7]
            router.change(rules())
            assert numbers(work, 1) == [3]


def test_a_replay_hands_out_what_the_rules_of_now_allow(router: Router) -> None:
    with router.client("maker") as maker, router.client("viewer") as viewer, router.client("none") as none:
        maker.durable("orders-eu", "n > 0", bytes=2**20)
        router.publish(*({"kind": "order", "n": n} for n in range(1, 6)))
        with viewer.replay("n > 0") as replay:
            assert [each["n"] for each in replay] == [2, 4, 5]
        assert "no role allows replay" in refused(lambda: list(none.replay("n > 0").__enter__()))


def test_only_the_owner_or_who_may_removes(router: Router) -> None:
    with router.client("maker") as maker, router.client("helper") as helper, router.client("viewer") as viewer:
        maker.durable("orders-eu", "n > 0", bytes=2**20)
        assert "no role allows remove" in refused(lambda: helper.remove_durable("orders-eu"))
        assert "no role allows remove" in refused(lambda: viewer.remove_durable("orders-eu"))
        with router.client("maker/1") as of_the_line:
            assert "orders-eu" in refused(lambda: of_the_line.remove_durable("orders-eu"))
            of_the_line.durable("maker/1-mine", "n > 0", bytes=2**20)
            assert "orders-eu" in refused(lambda: of_the_line.durable("orders-eu", "n > 0", bytes=2**20))
        assert "maker/1-mine" in refused(lambda: maker.remove_durable("maker/1-mine"))
        maker.remove_durable("orders-eu")


def with_issuer(folder: Path, key: Key, roles: dict[str, object]) -> Path:
    """The topology file of a router with an issuer that has this key. `roles`: what its tokens give."""
    (folder / "jwks.json").write_text(json.dumps({"keys": [key.jwk]}))
    (folder / "rules.yaml").touch(0o600)
    corp = {"issuer": ISSUER, "audience": AUDIENCE, "keys": "jwks.json", "algorithms": ["ES256"], "names": "people-*"}
    known = {"worker": WORKER, "all": {"publish": "true", "admin": "admin", "inspect": "*"}}
    known |= {"open": {"consume": "orders-*", "subscribe": "open = true"}, "paid": {"subscribe": "exists salary"}}
    (folder / "rules.yaml").write_text(written(known, {"all": "all"}, issuers={"corp": corp | roles}))
    file = folder / "one.yaml"
    listens = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file.write_text(f"access: rules.yaml\nrouters: {{a: {{{listens}, data: data}}}}\n")
    return file


def signed(key: Key, **more: object) -> str:
    """A token of people-1."""
    return key.token(claims(sub="people-1", exp=int(time.time()) + 600, nbf=None, iat=None, **more)).decode()


def test_a_consumer_gets_what_its_next_token_allows(tmp_path: Path) -> None:
    key = Key("ES256")
    with blocking.started(with_issuer(tmp_path, key, {"roles_from": "groups"}), "a") as one:
        one_of = {"name": "people-1", "patience_s": PATIENCE_S}
        with (
            connect(one.address, token=signed(key, groups=["worker", "open"]), **one_of) as reader,
            connect(one.address, name="all", token=token_of("all").decode(), patience_s=PATIENCE_S) as all_,
        ):
            reader.durable("orders-1", 'kind = "order"')

            def publish(first: int) -> None:
                for n in (first, first + 1):
                    all_.publish({"kind": "order", "n": n, "open": True}, confirm="stored")

            with reader.consume("orders-1") as work:
                publish(1)
                assert numbers(work, 2) == [1, 2]
                reader.authenticate(signed(key, groups=["paid"]))
                publish(3)
                assert numbers(work, 0) == []
                reader.authenticate(signed(key, groups=["worker", "open"]))
                publish(5)
                assert sorted(numbers(work, 4)) == [3, 4, 5, 6]


def test_what_a_signed_token_made_stores_by_its_roles_after_a_restart(tmp_path: Path) -> None:
    key = Key("ES256")
    file = with_issuer(tmp_path, key, {"roles": ["worker"]})
    token = signed(key)

    def publish(one: BlockingRouter, n: int) -> None:
        with connect(one.address, name="all", token=token_of("all").decode(), patience_s=PATIENCE_S) as publisher:
            for extra in ({"open": True}, {"open": True, "salary": 3}, {}):
                publisher.publish({"kind": "order", "n": n, **extra}, confirm="stored")

    with blocking.started(file, "a") as one:
        with connect(one.address, name="people-1/desk", token=token, patience_s=PATIENCE_S) as owner:
            owner.durable("orders-1", 'kind = "order"')
        publish(one, 1)
    with blocking.started(file, "a") as one:
        publish(one, 2)
        headers = {"Authorization": f"Bearer all:{token_of('all').decode()}"}
        status, answer = asked(one.admin, "POST", "/durables/purge?durable=orders-1", b"", headers)
        assert (status, json.loads(answer)["removed"]) == (200, 0)
        with (
            connect(one.address, name="people-1/desk", token=token, patience_s=PATIENCE_S) as owner,
            owner.consume("orders-1") as work,
        ):
            assert numbers(work, 4) == [1, 1, 2, 2]
