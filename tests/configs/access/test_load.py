"""A file of rules as it is meant: what it says, and what becomes of it; tests in the file; 100,000 principals."""

from __future__ import annotations

import hashlib
import random
import time
from pathlib import Path

import pytest

from tamis.configs.access.load import load_access, parse_access
from tamis.protocol.access.rights import DurableTerms
from tamis.protocol.access.role import AdminLevel, Quota, Rate
from tamis.protocol.access.rules import AccessMode
from tamis.protocol.errors import ConfigError
from tamis.protocol.language import parse
from tests.slowdown import slowdown

SHOWN = "W7cGk3J99fQ2"
DIGEST = "sha256:" + hashlib.sha256(SHOWN.encode()).hexdigest()
PLANT = f"""\
mode: observe
roles:
  sensor:
    publish: 'kind = "reading" and plant = "rome"'
    stamp: {{device: '${{name}}', level: 3, code: '"007"'}}
    rate: {{messages_s: 500, bytes_s: 1 MiB}}
  dashboard:
    subscribe: {{allow: 'kind in {{"reading", "alert"}}', deny: 'exists salary'}}
    groups: dash
    requests: yes
  worker:
    durable: {{names: ['orders-*', '${{name}}'], of: 'kind = "order"', bytes: 1 GiB, refuse: true, idle_max: never}}
    consume: {{names: 'bills-*', skip: true}}
    quotas: {{connections: 3, durables: 2, log: 20%}}
    totals: {{filters: 100000}}
  biller: {{durable: {{names: 'bills-*', refuse: 'kind = "bill"'}}, subscribe: 'kind = "bill"'}}
  auditor: {{inspect: '*', replay: 'kind != "secret"', replay_since: 30d}}
  operator: {{admin: operator, remove: '*'}}
principals:
  press-1: {{roles: [sensor, dashboard], token: '{DIGEST}'}}
  fleet: {{roles: worker, token: ['sha256:{"0" * 64}', '{DIGEST}']}}
  '*.plant.example': {{roles: sensor, certificate: true}}
  ops: {{roles: [operator, auditor], token: '{DIGEST}', certificate: yes}}
  bill: {{roles: biller, token: '{DIGEST}'}}
issuers:
  corp:
    issuer: https://id.example/realms/plant
    audience: tamis:plant
    keys: jwks.json
    algorithms: [EdDSA, ES256]
    names: 'staff/*'
    roles_from: groups
tests:
  - {{as: press-1, publish: {{kind: reading, plant: oslo}}, expect: denied}}
  - {{as: press-1, publish: 'kind=reading plant=rome', expect: allowed}}
  - {{as: x.plant.example, publish: 'kind=reading plant=rome device=y', expect: denied}}
  - {{as: press-1/a, sees: {{kind: alert, salary: 3}}, expect: denied}}
  - {{as: press-1, subscribe: 'kind = "alert"', expect: allowed}}
  - {{as: press-1, group: dash, expect: allowed}}
  - {{as: fleet/7, make: fleet/7, expect: allowed}}
  - {{as: fleet/7, make: fleet/8, expect: denied}}
  - {{as: fleet/7, consume: bills-eu, expect: allowed}}
  - {{as: fleet/7, skip: orders-eu, expect: denied}}
  - {{as: ops, inspect: orders-eu, expect: allowed}}
  - {{as: ops, remove: orders-eu, expect: allowed}}
  - {{as: ops, admin: admin, expect: denied}}
  - {{as: ops, replay: {{kind: secret}}, expect: denied}}
  - {{as: staff/ann, roles: [dashboard], sees: kind=alert, expect: allowed}}
"""


def test_each_key_arrives_where_it_decides() -> None:
    found = parse_access(PLANT)
    rules = found.rules
    assert (rules.mode, found.tests, rules.count, found.warnings) == (AccessMode.OBSERVE, 15, 5, ())
    press, fleet, ops = (rules.of(name).rights for name in ("press-1", "fleet/7", "ops"))
    assert press.names == ("dashboard", "sensor")
    assert press.stamped("press-1", {}) == {"device": "press-1", "level": 3, "code": "007"}
    assert press.rate == Rate(500, 500, 2**20)
    assert press.sees("press-1", {"kind": "x", "answer-to": "1"}, is_answer=True)
    assert fleet.quota == Quota(connections=3, durables=2, log=0.2)
    assert rules.roles["worker"].totals == Quota(filters=100_000)
    assert fleet.make("fleet/7", DurableTerms("orders-1", parse('kind = "order"'), 2**30, True, 0))
    assert not fleet.make("fleet/7", DurableTerms("orders-1", parse('kind = "order"'), 2**30 + 1, True, 0))
    bill = rules.of("bill").rights
    assert bill.refuse("bills-1", "bill", {"kind": "bill"})
    assert not bill.refuse("bills-1", "bill", {"kind": "order"})
    assert not bill.make("bill", DurableTerms("bills-1", idle_s=31 * 86_400))
    assert ops.admin(AdminLevel.OPERATOR)
    assert ops.sees_again("ops", {"kind": "x"}, 30 * 86_400)
    assert not ops.sees_again("ops", {"kind": "x"}, 30 * 86_400 + 1)


def test_principals_come_in_by_tokens_and_certificates() -> None:
    rules = parse_access(PLANT).rules
    assert rules.principals.shows("fleet/7", SHOWN.encode())
    assert not rules.principals.shows("fleet/7", b"other")
    assert rules.of_certificate("saw.plant.example").line == "*.plant.example"
    assert rules.of_certificate("ops").rights is rules.of("ops").rights
    assert rules.of_certificate("fleet") is None
    assert rules.of("saw.plant.example").rights is not rules.of("press-1").rights


@pytest.mark.parametrize("line", [each for each in PLANT.splitlines() if "expect:" in each])
def test_each_test_of_the_file_can_fail(line: str) -> None:
    other = line.replace("allowed", "x").replace("denied", "allowed").replace("expect: x", "expect: denied")
    with pytest.raises(ConfigError) as error:
        parse_access(PLANT.replace(line, other), "rules.yaml")
    [said] = error.value.mistakes
    at = PLANT.splitlines().index(line) + 1
    assert said.startswith(f"rules.yaml:{at}:5: tests.")
    assert "the test fails" in said


def test_a_class_is_shared_by_all_with_its_roles() -> None:
    text = "roles: {a: {}, b: {}}\nprincipals:\n" + "".join(
        f"  p{at}: {{roles: [{'a, b' if at % 2 else 'b, a'}], token: {DIGEST}}}\n" for at in range(10)
    )
    rules = parse_access(text).rules
    assert len(rules.classes.rights) == 1
    assert len({id(rules.of(f"p{at}").rights) for at in range(10)}) == 1


def many(folder: Path, count: int) -> Path:
    """Write rules with principals of 64 classes in random order."""
    roles = [f"r{at}" for at in range(6)]
    sets = [",".join(role for bit, role in enumerate(roles) if at >> bit & 1) or "-" for at in range(64)]
    numbers = random.Random(5).sample(range(count), count)
    lines = (f"device-{at:06} {sets[at % 64]} sha256:{hashlib.sha256(b'%d' % at).hexdigest()}\n" for at in numbers)
    (folder / "principals.txt").write_text("".join(lines))
    rules = folder / "rules.yaml"
    rules.write_text(
        "roles:\n"
        + "".join(f"  {role}: {{publish: 'kind = \"{role}\"'}}\n" for role in roles)
        + "principals_file: principals.txt\n"
    )
    for path in folder.iterdir():
        path.chmod(0o640)
    return rules


def test_many_principals_take_96_bytes_each(tmp_path: Path) -> None:
    rules = load_access(many(tmp_path, 1_000)).rules
    assert (rules.count, len(rules.classes.rights)) == (1_000, 64)
    assert rules.principals.memory_bytes <= 96 * 1_000
    for at in random.Random(1).sample(range(1_000), 50):
        rights = rules.of(f"device-{at:06}/x").rights
        assert rights.names == tuple(f"r{bit}" for bit in range(6) if at % 64 >> bit & 1)
        assert rules.principals.shows(f"device-{at:06}", b"%d" % at)


@pytest.mark.slow
def test_100_000_principals_in_64_classes_are_read_in_a_second_and_a_half(tmp_path: Path) -> None:
    path = many(tmp_path, 100_000)
    taken = []
    for _ in range(3):
        before = time.process_time()
        rules = load_access(path).rules
        taken.append(time.process_time() - before)
    assert (rules.count, len(rules.classes.rights)) == (100_000, 64)
    assert rules.principals.memory_bytes <= 96 * 100_000
    assert min(taken) <= 1.5 * slowdown()
