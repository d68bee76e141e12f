"""Wrong files of credentials: tokens, secrets, certificates, in a sound topology or on a command line."""

from __future__ import annotations

from random import Random

from tests.wrong.case import ADMIN, ROUTER, Case

_TOPOLOGY = """\
routers:
  a:
    clients: 127.0.0.1:0
    neighbours: unix:a.links
    {router}
  b:
    neighbours: unix:b.links
links:
  - ends: [a, b]
    {link}
"""
_TOKEN_FILES = {
    "empty": (b"", 0o600),
    "two words": (b"press-1 k3J9aaaaaaaaaaaaaaaa\n", 0o600),
    "two lines": (b"k3J9aaaaaaaaaaaaaaaa\nk3J9bbbbbbbbbbbbbbbbb\n", 0o600),
    "others may read": (b"k3J9aaaaaaaaaaaaaaaa\n", 0o644),
    "too long": (b"x" * 5_000, 0o600),
    "missing": (None, 0o600),
}
_ROUTER_FILES = {
    "tokens": {
        "one word": b"press-1\n",
        "three words": b"ok k3J9aaaaaaaaaaaaaaaa\npress-1 k3J9aaaa bbbb\n",
        "a name twice": b"press-1 k3J9aaaaaaaaaaaaaaaa\npress-1 k3J9bbbbbbbbbbbbbbbb\n",
        "a bad name": b"# t\n\n" + b"x" * 300 + b" k3J9aaaaaaaaaaaaaaaa\n",
        "binary": bytes(range(128, 256)),
    },
    "admin_token": {
        "empty": b"",
        "too short": b"short\n",
        "two words": b"press-1 k3J9aaaaaaaaaaaaaaaa\n",
        "binary": bytes(range(256)),
        "not ASCII": "schlüsselschlüsselschlüssel\n".encode(),
    },
    "secret": {"empty": b"", "too short": b"x", "too long": b"x" * 100_000},
}


def drawn(rng: Random) -> Case:
    """Return a command that is given a wrong file of a credential."""
    return rng.choice((_token_told, _router_file, _router_file, _certificate))(rng)


def _token_told(rng: Random) -> Case:
    what = rng.choice(sorted(_TOKEN_FILES))
    data, mode = _TOKEN_FILES[what]
    words = rng.choice(
        (
            ("pub", ROUTER, "--token-file", "token", "n=1"),
            ("sub", ROUTER, "--token-file", "token", "true", "--timeout", "1", "--count", "1"),
            ("status", ADMIN, "--admin-token-file", "token"),
            ("durable", "ls", ADMIN, "--admin-token-file", "token"),
            ("context", "add", "x", "--token-file", "token", "--url", "tamis://h:1"),
        )
    )
    files = {} if data is None else {"token": data}
    return Case(f"token file: {what}", words, ("token",), (), files, {"token": mode})


def _router_file(rng: Random) -> Case:
    key = rng.choice(sorted(_ROUTER_FILES))
    what = rng.choice(sorted((*_ROUTER_FILES[key], "others may read", "missing", "a folder")))
    good = b"k3J9aaaaaaaaaaaaaaaa\n" if key != "tokens" else b"press-1 k3J9aaaaaaaaaaaaaaaa\n"
    data = {"missing": None, "a folder": None}.get(what, _ROUTER_FILES[key].get(what, good))
    files: dict[str, bytes | None] = {"network.yaml": _topology(**{key: "credential"})}
    if what != "missing":
        files["credential"] = data
    mode = 0o644 if what == "others may read" else 0o600
    words = rng.choice(
        (("check", "network.yaml"), ("check", "network.yaml"), ("router", "--topology", "network.yaml", "--id", "a"))
    )
    return Case(f"{key}: {what}", words, ("credential",), (), files, {} if data is None else {"credential": mode})


def _certificate(rng: Random) -> Case:
    junk = rng.choice(
        (b"", b"hello\n", b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", bytes(range(256)))
    )
    if rng.random() < 0.4:
        words = ("pub", "tamis+tls://127.0.0.1:1", "--ca", "root.pem", "n=1")
        return Case("certificates to trust", words, ("root.pem",), (), {"root.pem": junk})
    tls = "tls: {certificate: cert.pem, key: key.pem}"
    files: dict[str, bytes | None] = {"network.yaml": _topology(line=tls), "cert.pem": junk}
    if rng.random() < 0.5:
        files["key.pem"] = junk
    return Case("certificate of a router", ("check", "network.yaml"), ("cert.pem", "key.pem"), (), files)


def _topology(line: str = "machine: local", secret: str | None = None, **keys: str) -> bytes:
    router = "\n    ".join([line, *(f"{key}: {value}" for key, value in keys.items())])
    return _TOPOLOGY.format(router=router, link=f"secret: {secret}" if secret else "cost: 2").encode()
