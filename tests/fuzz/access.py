"""Fuzz target: any bytes as a file of access rules. A ConfigError with lines to print is fine, and so are valid rules
that decide; anything else is a bug."""

from __future__ import annotations

from tamis.configs.access.load import parse_access
from tamis.protocol.access.decision import Verb
from tamis.protocol.access.questions import Ask, ask
from tamis.protocol.access.role import AdminLevel
from tamis.protocol.errors import ConfigError
from tamis.protocol.filters import EVERYTHING, Predicate

_DIGEST = b"'sha256:" + b"0" * 64 + b"'"
_SMALL = b"roles: {a: {publish: 'kind = 1'}}\nprincipals: {p: {roles: a, token: " + _DIGEST + b"}}\n"
_WHOLE = b"""\
mode: observe
roles:
  a:
    publish: {allow: 'kind = "x" or n > 2', deny: 'exists salary and not (class = "secret")'}
    stamp: {device: '${name}', level: 3}
    rate: {messages_s: 5, burst: 7, bytes_s: 1 MiB}
    subscribe: 'device in {"all", "${name}"}'
    groups: ['g*', '${name}']
    requests: true
    durable: {names: 'o-*', of: 'kind != 3', bytes: 1 GiB, refuse: true, idle_max: never}
    consume: {names: 'o-*', skip: true}
    inspect: '*'
    remove: ['x-*']
    replay: 'exists kind'
    replay_since: 30d
    admin: operator
    quotas: {connections: 3, log: 20%}
    totals: {durables: 4}
principals:
  p: {roles: [a], token: [DIGEST]}
  '*.x.example': {roles: a, certificate: true}
issuers:
  i: {issuer: 'https://i.example', audience: t, keys: k, algorithms: [ES256], names: '*', roles_from: g}
tests:
  - {as: p, publish: {kind: x}, expect: allowed}
  - {as: p/1, admin: admin, expect: denied}
""".replace(b"DIGEST", _DIGEST)

SEEDS: list[bytes] = [
    _SMALL,
    _WHOLE,
    b"",
    b"roles: {}",
    _SMALL.replace(b": ", b":\t"),
    _SMALL + b"tenants: {}\nshare: 1\n",
    _SMALL + b"tests: [{as: p, sees: 'a=', expect: denied}, {as: q, subscribe: true, roles: a, expect: denied}]",
    b'roles: {a: {publish: \'a = "${name}" and not (a in {"${name}", 3}) or not (a != "${name}")\'}}',
    "roles: {a: {subscribe: 'a \"\u070e\"'}}".encode(),
    b'roles: {a: {publish: \'a = "${name}" and not (a = "${name}")\'}}',
    "roles: {b\u070e: {}, c: {}}\nprincipals: {p: {roles: [a]}, q: {roles: [b\u070f]}}".encode(),
    b"roles: {a: {publish: '`b\\u070e` = 1 and `b\\u070e` = 2'}}",
    b"roles: {a: {publish: '`\\0a` = \"${name}\"', stamp: {'': '', '${name}': '${tenant}'}}}",
    b"roles: {a: {groups: ['*', '**', '', '${', '${name}${name}*'], consume: [[x]], durable: {names: {}}}}",
    b"roles: {a: {stamp: {n: 1e999, m: .inf, o: 0x1F, p: 'a b=3'}, quotas: {log: 1e3%}}}",
    b"principals: {'*.*': {certificate: true}, '*': x, 'a/b': {roles: [[a]]}}\nroles: {a: 1}\n",
    b"principals_file: [x]\nroles: [a]\nissuers: {i: {issuer: 'https://', keys: {}}}\n",
    b'roles: {a: {stamp: {d: "${na\\tme}"}, subscribe: \'d = "${\\n}"\'}}',
    b"principals: {p: {roles: {a: b}, token: {}, certificate: {}}}\nroles: {a: {}, b: {stamp: {x: {}}}}\n",
]

_QUESTIONS = [
    Ask(Verb.PUBLISH, {"kind": "x", "n": 3, "device": "p"}),
    Ask(Verb.SEES, {"device": "all"}),
    Ask(Verb.REPLAY, {"kind": 1}),
    Ask(Verb.SUBSCRIBE, Predicate((EVERYTHING,))),
    Ask(Verb.ADMIN, AdminLevel.OPERATOR),
    *(Ask(verb, "o-1") for verb in (Verb.GROUP, Verb.MAKE, Verb.CONSUME, Verb.SKIP, Verb.INSPECT, Verb.REMOVE)),
]


def target(data: bytes) -> None:
    for source in (data, data.decode("utf-8", "surrogateescape")):
        if b"principals_file" in data:
            continue  # would read a file of any name
        lines = _refusal(source)
        assert lines is None or lines, "refused without a reason"
        assert all(line.isprintable() for line in lines or ()), lines


def _refusal(source: bytes | str) -> list[str] | None:
    try:
        found = parse_access(source)
    except ConfigError as error:
        return error.mistakes
    assert all(line.isprintable() for line in found.warnings), found.warnings
    for line, number in found.rules.lines():
        for question in _QUESTIONS:
            assert ask(found.rules.classes.rights[number], line, question).reason
    return None
