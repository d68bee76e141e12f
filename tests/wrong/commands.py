"""Wrong command lines: one slip in a line that is sound, for every command."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import click

from tamis.cli.main import root
from tests.wrong.case import ADMIN, CLOSED, ROUTER, Case
from tests.wrong.slips import misspelt
from tests.wrong.texts import wrong_address, wrong_attributes, wrong_predicate
from tests.wrong.topologies import FILE, GOOD

SPACES = b"spaces:\n  alarms:\n    attributes: {severity: {integer: [0, 9]}, place: string}\n"
FILES: dict[str, bytes | None] = {
    FILE: GOOD[FILE].encode(),
    "spaces.yaml": SPACES,
    "messages.jsonl": b'{"price": 300}\n',
    "filters.jsonl": b'{"i": 7, "f": [["price", "<", 500]]}\n',
    "token": b"k3J9aaaaaaaaaaaaaaaa\n",
    "picture": bytes(range(256)),
    "folder": None,
}
_END = ("--count", "1", "--timeout", "1")
GOOD_LINES: tuple[tuple[str, ...], ...] = (
    ("up", FILE, "--machine", "local"),
    ("down", FILE),
    ("pub", ROUTER, "class=alert", "severity=6", "--count", "2", "--rate", "5", "--ttl", "30s", "--confirm", "stored"),
    ("pub", ROUTER, "class=alert", "--payload-file", "picture", "--token-file", "token", "--seed", "4", "--name", "me"),
    ("pub", ROUTER, "class=alert", "--space", "trades", "--spaces", FILE),
    ("sub", ROUTER, "severity > 2", *_END, "--wait", "home", "--format", "{{severity}}"),
    ("sub", ROUTER, "--durable", "jobs", *_END, "--name", "me"),
    ("sub", ROUTER, "class = 1", "--group", "workers", "--spaces", ADMIN, *_END),
    ("request", ROUTER, "class=question", "--timeout", "1", "--payload", "x"),
    ("respond", ROUTER, "class = 1", "--answer", "{{n}}", "--count", "1"),
    ("status", ADMIN, "--wait-quiet", "0.1", "--timeout", "3"),
    ("top", ADMIN, "--interval", "0.5", "--connections", "5", "--sort", "busy", "--once"),
    ("restart", FILE, "a"),
    ("stop", FILE, "a"),
    ("start", FILE, "a"),
    ("reload", FILE),
    (
        "keep",
        ROUTER,
        "jobs",
        "class = 1",
        "--start",
        "1h",
        "--bytes",
        "64 MiB",
        "--overflow",
        "refuse",
        "--idle",
        "never",
    ),
    (
        "keep",
        ROUTER,
        "jobs",
        "class = 1",
        "--ack-wait",
        "5m",
        "--backoff",
        "2s",
        "--max-deliveries",
        "3",
        "--count",
        "9",
    ),
    (
        "durable",
        "create",
        ROUTER,
        "jobs",
        "class = 1",
        "--max-unacked",
        "10",
        "--order-by",
        "n",
        "--dead-letter",
        "dead",
    ),
    ("durable", "ls", ADMIN),
    ("durable", "info", ADMIN, "jobs"),
    ("durable", "peek", ADMIN, "jobs", "--lines", "5", "--after", "7"),
    ("durable", "dead", ADMIN, "jobs", "-n", "5"),
    (
        "durable",
        "replay",
        ROUTER,
        "n = 1",
        "--since",
        "10m",
        "--until",
        "2100-01-31T09:00",
        "--count",
        "3",
        "--format",
        "raw",
    ),
    ("durable", "rm", ROUTER, "jobs"),
    ("logs", FILE, "--router", "a", "--level", "info", "--since", "10m", "--lines", "3"),
    ("records", "cat", FILE, "--router", "a", "--kind", "link", "--since", "10m"),
    ("records", "tail", FILE, "--lines", "3"),
    ("context", "add", "plant", "--url", "tamis://127.0.0.1:7400", "--admin", "127.0.0.1:7600", "--name", "me"),
    ("context", "use", "plant"),
    ("context", "show", "plant"),
    ("context", "rm", "plant"),
    ("space", "ls", ADMIN),
    ("space", "show", "trades", ADMIN),
    ("space", "check", "trades", "symbol=X", "price=1.5", "--spaces", FILE),
    ("space", "put", "spaces.yaml", ADMIN, "--only", "alarms"),
    ("space", "drop", "trades", "--at", ADMIN),
    ("trace", "--dry-run", ROUTER, "n=1", "--timeout", "1", "--router", ADMIN),
    ("trace", ROUTER, "n=1", "--timeout", "1", "--payload", "x"),
    ("explain", "n > 1", "n=2", "--spaces", FILE),
    ("explain", "--router", ADMIN, "n=2"),
    ("show", "routes", ADMIN),
    ("filters", ADMIN, "--limit", "5"),
    ("unmatched", ADMIN, "--lines", "5"),
    (
        "analyze",
        "folder",
        "--out",
        "out",
        "--only",
        "delivery",
        "--settle",
        "5",
        "--since",
        "2026-01-31",
        "--fail-on",
        "missing",
    ),
    ("match", "--filters", "filters.jsonl", "--messages", "messages.jsonl", "--engine", "sff:rounds=3"),
    ("example", "ring5"),
    ("check", FILE, "--machine", "local"),
    ("compose", FILE, "--out", "docker-compose.yml"),
    ("kubernetes", FILE, "--out", "k8s.yaml"),
    ("router", "--topology", FILE, "--id", "a"),
    (
        "simulate",
        "--topology",
        "ring:5",
        "--ops",
        "20",
        "--faults",
        "cut,crash",
        "--seed",
        "7",
        "--strategy",
        "advertise",
    ),
    (
        "bench",
        "match",
        "--workload",
        "sigcomm03",
        "--filters",
        "50",
        "--engine",
        "sff,tamis",
        "--rounds",
        "0",
        "--messages",
        "5",
    ),
    ("bench", "pub", ROUTER, "n=1", "--count", "10", "--seconds", "1", "--rounds", "1", "--payload-bytes", "5"),
    ("bench", "sub", ROUTER, "n = 1", "--seconds", "0.2", "--count", "1"),
    ("bench", "route", ROUTER, "--rate", "50", "--seconds", "0.2", "--count", "5"),
    ("reproduce", "004", "--figure", "11", "--scale", "small", "--list"),
    ("completion", "bash"),
)
Slip = Callable[[Random], Case | None]


def drawn(rng: Random) -> Case:
    """Return a command line with one slip."""
    while (case := rng.choice(_SLIPS)(rng)) is None:
        pass
    return case


def _case(name: str, words: tuple[str, ...] | list[str], where: tuple[str, ...], *allowed: str, **more: Any) -> Case:
    return Case(f"command: {name}", tuple(words), where, allowed, **{"files": FILES, **more})


def _misspelt_command(rng: Random) -> Case | None:
    words = list(rng.choice(GOOD_LINES))
    at = rng.choice([0, 1]) if words[0] in ("durable", "records", "context", "space", "bench") else 0
    good, words[at] = words[at], misspelt(rng, words[at])
    return _case("misspelt command", words, (words[at],), good, "did you mean")


def _misspelt_option(rng: Random) -> Case | None:
    words, options = _with_options(rng)
    at = rng.choice(options)
    good, words[at] = words[at], "--" + misspelt(rng, words[at][2:])
    return _case("misspelt option", words, (words[at],), good)


def _dash(rng: Random) -> Case | None:
    words, options = _with_options(rng)
    at = rng.choice(options)
    words[at] = rng.choice(("\u2014", "\u2013", "-")) + words[at][2:]
    return _case("another dash", words, (words[at], words[at][:2], words[at + 1]))


def _no_value(rng: Random) -> Case | None:
    words, options = _with_options(rng)
    at = rng.choice(options)
    kept = words[:at] + words[at + 2 :]
    return _case("option without a value", [*kept, words[at]], (words[at],))


def _wrong_value(rng: Random) -> Case | None:
    words, options = _with_options(rng)
    at = rng.choice(options)
    parameter = _parameter(words, words[at])
    wrong = _wrong(rng, parameter, words[at])
    if wrong is None:
        return None
    words[at + 1] = wrong
    return _case(
        "wrong value of an option",
        words,
        (
            words[at],
            wrong or "empty",
            words[at].strip("-"),
            "spaces.yaml",
            "column",
            words[at].strip("-").replace("-", "_"),
        ),
    )


def _no_argument(rng: Random) -> Case | None:
    words = [*rng.choice([line for line in GOOD_LINES if line[0] not in ("up", "down", "explain", "bench", "example")])]
    begins = 2 if words[0] in ("durable", "records", "context", "space", "show") else 1
    needed = [at for at in range(begins, len(words)) if _is_argument(words, at)]
    optional = (ADMIN, ROUTER)
    needed = [at for at in needed if words[at] not in optional]
    if not needed or words[0] in ("pub", "trace", "logs", "records"):
        return None
    if words[:2] == ["space", "check"] or (words[0], words[1]) == ("context", "show") or "--durable" in words:
        return None
    del words[needed[-1]]
    return _case("an argument is missing", words, (words[0], "ssing", "needs", "named by"))


def _one_more(rng: Random) -> Case | None:
    words = [*rng.choice(GOOD_LINES)]
    takes_more = ("pub", "request", "trace", "explain", "sub", "respond", "space", "keep", "bench")
    if words[0] in takes_more:
        return None
    return _case("an argument too many", [*words, "surplus"], ("surplus", "words"))


def _no_file(rng: Random) -> Case | None:
    words = [*rng.choice(GOOD_LINES)]
    places = [at for at, word in enumerate(words) if word in FILES]
    if not places:
        return None
    at = rng.choice(places)
    words[at] = rng.choice(("nosuch.yaml", "no/such/file", "netwrok.yaml", "folder", "picture"))
    if words[at] == "picture" and words[at - 1] in ("--payload-file", "--token-file"):
        return None
    if words[at] == "folder" and words[0] in ("analyze", "records"):
        return None
    return _case("wrong file", words, (words[at],))


def _address(rng: Random) -> Case | None:
    words = [*rng.choice([line for line in GOOD_LINES if ROUTER in line])]
    wrong = wrong_address(rng)
    words[words.index(ROUTER)] = wrong
    return _case("wrong address", words, (wrong, wrong.lower()))


def _closed_port(rng: Random) -> Case | None:
    words = [*rng.choice([line for line in GOOD_LINES if ROUTER in line or ADMIN in line])]
    at = next(at for at, word in enumerate(words) if word in (ROUTER, ADMIN))
    words[at] = f"{'tamis://' if words[at] == ROUTER else ''}127.0.0.1:{CLOSED}"
    return _case("nothing listens there", words, (words[at],), "tamis up", "refused")


def _other_port(rng: Random) -> Case | None:
    """Give the address of administration where clients connect, and the other way round."""
    words = [*rng.choice([line for line in GOOD_LINES if (ROUTER in line) != (ADMIN in line)])]
    at = next(at for at, word in enumerate(words) if word in (ROUTER, ADMIN))
    words[at] = f"tamis://{ADMIN}" if words[at] == ROUTER else ROUTER.replace("@", "@plain-")
    return _case("the other port of the router", words, ("administration", "admin", "HTTP", "127.0.0.1"))


def _predicate(rng: Random) -> Case | None:
    words = [*rng.choice([line for line in GOOD_LINES if "class = 1" in line or "n > 1" in line or "n = 1" in line])]
    what, wrong = wrong_predicate(rng)
    at = next(at for at, word in enumerate(words) if word in ("class = 1", "n > 1", "n = 1"))
    if wrong.startswith(("-", "{")) or not wrong:
        return None
    words[at] = wrong
    return _case(f"predicate, {what}", words, ("column", "predicate"))


def _attributes(rng: Random) -> Case | None:
    head, options = rng.choice(
        (
            (["pub", ROUTER], ["--count", "1"]),
            (["trace", ROUTER], ["--timeout", "1"]),
            (["trace", "--dry-run", ROUTER], ["--timeout", "1"]),
            (["request", ROUTER], ["--timeout", "1"]),
            (["explain", "n > 1"], []),
            (["space", "check", "trades", "--spaces", FILE], []),
        )
    )
    return _case(
        "attributes",
        [*head, *options, *wrong_attributes(rng)],
        ("attribute", "column", "JSON", "name", "message", "--x"),
    )


def _router_of_file(rng: Random) -> Case | None:
    words = rng.choice(
        (
            *(["stop", FILE, "c"], ["start", FILE, "c"], ["restart", FILE, "c"], ["logs", FILE, "--router", "wset"]),
            *(["router", "--topology", FILE, "--id", "wset"], ["up", FILE, "--machine", "elsewhere"]),
            *(
                ["check", FILE, "--machine", "elsewhere"],
                ["records", "cat", FILE, "--router", "wset"],
                ["stop", FILE, "a"],
            ),
            *(
                ["durable", "ls", FILE, "--router", "wset"],
                ["unmatched", FILE, "--router", "wset"],
                ["down", FILE],
                ["reload", FILE],
            ),
        )
    )
    return _case("a router or machine that there is not", words, ("c", "wset", "elsewhere", FILE))


def _conflict(rng: Random) -> Case | None:
    words = rng.choice(
        (
            ["pub", ROUTER, "n=1", "--payload", "x", "--payload-file", "picture"],
            ["pub", ROUTER, "n=1", "--require-stored"],
            ["pub", ROUTER, "n=1", "--require-stored", "--confirm", "accepted"],
            ["sub", ROUTER, "true", "--durable", "jobs", *_END],
            ["sub", ROUTER, "true", "--no-ack", *_END],
            ["sub", ROUTER, "true", "--json", "--format", "raw", *_END],
            ["sub", ROUTER, "--durable", "jobs", "--group", "g", *_END],
            ["sub", ROUTER, "PROFILE(PRI(a1=5", "--das", *_END],
            ["sub", ROUTER, *_END],
            ["sub", ROUTER, "--durable", "nosuch", *_END],
            ["match", "--filters", "-", "--messages", "-"],
            ["simulate", "--break", "R99"],
            ["simulate", "--only", "1,x"],
            ["simulate", "--topology", "ring:two"],
            ["simulate", "--topology", "ring:5", "--broadcast", "reverse-path", "--strategy", "profile", "--ops", "5"],
            ["up", FILE, FILE],
            ["router", "--topology", FILE],
            ["durable", "info", ADMIN],
            ["durable", "info", ADMIN, "nosuch"],
            ["durable", "rm", ROUTER, "nosuch"],
            ["durable", "replay", ROUTER, "true", "--since", "2026-01-31", "--until", "2025-01-31"],
            ["space", "show", "nosuch", ADMIN],
            ["space", "drop", "nosuch", "--at", ADMIN],
            ["space", "put", "spaces.yaml", ADMIN, "--only", "nosuch"],
            ["context", "use", "nosuch"],
            ["context", "add", "a/b", "--url", "tamis://h:1"],
            ["example", "ring6"],
            ["trace", ROUTER],
            ["request", ROUTER, "--timeout", "1"],
            ["keep", ROUTER, "jobs"],
            ["keep", ROUTER, "jobs", "n = 1", "m = 1"],
            ["analyze", "folder"],
            ["analyze", "folder", "--out", "out", "--only", "nosuch"],
            ["analyze", "folder", "--out", "out", "--fail-on", "nosuch"],
            ["bench", "match", "--engine", "nosuch"],
            ["bench", "match", "--workload", "nosuch"],
            ["match", "--filters", "filters.jsonl", "--messages", "messages.jsonl", "--engine", "sff:rounds=-3"],
            ["match", "--filters", "messages.jsonl", "--messages", "messages.jsonl"],
            ["match", "--filters", "filters.jsonl", "--messages", "filters.jsonl"],
            ["records", "cat", "folder"],
            ["pub", ROUTER, "n={{random 5 1}}", "--name", "random"],
            ["pub", ROUTER, "n={{nosuch}}"],
            ["pub", ROUTER, "n={{count}"],
            ["sub", ROUTER, "true", "--format", "{{severity", *_END],
            ["sub", ROUTER, "nosuch: n = 1", *_END],
            ["pub", ROUTER, "type=trades", "n=1", "--confirm"],
        )
    )
    return _case("options that do not go together, or names that there are not", words, (*words, "nosuch"))


def _stdin(rng: Random) -> Case | None:
    data = rng.choice((b'{"a": 1\n', b"a=1\n", b"\xff\xfe\n", b"[1]\n", b'{"a": null}\n', bytes(range(256)), b'"x"\n'))
    return _case("lines that are no messages", ("pub", ROUTER), ("stdin", "line"), stdin=data)


_SLIPS: tuple[Slip, ...] = (
    *(
        _misspelt_command,
        _misspelt_option,
        _dash,
        _no_value,
        _wrong_value,
        _wrong_value,
        _wrong_value,
        _no_argument,
        _one_more,
    ),
    *(_no_file, _no_file, _address, _closed_port, _other_port, _predicate, _predicate, _attributes, _attributes),
    *(_router_of_file, _conflict, _conflict, _conflict, _stdin),
)


def _with_options(rng: Random) -> tuple[list[str], list[int]]:
    """Return a sound line and the places of its long options that have a value."""
    words = [*rng.choice([line for line in GOOD_LINES if any(word.startswith("--") for word in line)])]
    places = [at for at, word in enumerate(words[:-1]) if word.startswith("--") and not words[at + 1].startswith("--")]
    return (words, places) if places else _with_options(rng)


def _parameter(words: list[str], option: str) -> click.Parameter:
    command: click.Command = root
    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(click.Context(command), word) or command
    return next(each for each in command.params if option in each.opts)


def _is_argument(words: list[str], at: int) -> bool:
    return not words[at].startswith("-") and not words[at - 1].startswith("-")


_TIMES = ("soon", "-5s", "5 weeks", "1h30m", "10S", "", "0s", "5,5s", "1e3s", "NaN", "٣s")
_WORDS = {
    "--ttl": _TIMES,
    "--idle": _TIMES,
    "--ack-wait": _TIMES,
    "--backoff": _TIMES,
    "--since": ("soon", "-5m", "10 weeks", "2026-13-01", "31.01.2026", "", "yesterday", "10M"),
    "--until": ("soon", "2026-13-01", "31.01.2026", ""),
    "--start": ("latest", "10 weeks", "2026-13-01", "", "begin", "12-34"),
    "--bytes": ("1 GB", "-5", "big", "0", "", "64 mib", "1,5 MiB", "64 MB"),
    "--engine": ("nosuch", "sff:rounds", "sff:nosuch=1", "sff:rounds=many", "", "tamis:rounds=1", "sf"),
    "--faults": ("nosuch", "cut,", "cut;crash", "all,none", ""),
    "--topology": ("nosuch.yaml", "ring", "ring:0", "cube:5", "ring:-1", "random:x"),
    "--name": ("", "x" * 300, "two\nlines", "a\tb"),
    "--group": ("", "x" * 300),
    "--order-by": ("", "x" * 300),
    "--dead-letter": ("", "x" * 300),
    "--only": ("nosuch", "", "Delivery"),
    "--fail-on": ("nosuch", "", "missing;stray"),
    "--workload": ("nosuch", "", "sigcom03"),
    "--figure": ("999", "nosuch", ""),
    "--format": ("{{severity", "jsn", "{{.nosuch}}", "{{}}"),
    "--answer": ("{{n", "{{}}"),
    "--url": ("127.0.0.1:7400", "http://h:1", "", "tamis://h"),
    "--rounds": ("x", "-1", "1,x", ""),
}


def _wrong(rng: Random, parameter: click.Parameter, option: str) -> str | None:
    kind = parameter.type
    if isinstance(kind, click.Choice):
        return rng.choice((misspelt(rng, kind.choices[0]), kind.choices[0].upper(), "", "nosuch"))
    if isinstance(kind, click.IntRange | click.FloatRange):
        low = "-1" if kind.min is not None else "x"
        return rng.choice(
            (low, "many", "1e", "5 s", "0x10", "", "1,000", "½", "9" * 400 if kind.max is not None else low)
        )
    if kind is click.INT:
        return rng.choice(("many", "1.5", "", "0x10", "1e3"))
    if isinstance(kind, click.Path):
        return rng.choice(("nosuch", "no/such/file")) if option not in ("--out", "--router") else None
    return rng.choice(_WORDS[option]) if option in _WORDS else None
