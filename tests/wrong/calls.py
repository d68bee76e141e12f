"""Wrong calls of the blocking client, which is called `tamis` there: an argument that it does not take."""

from __future__ import annotations

from random import Random

from tests.wrong.case import CLOSED, ROUTER, Case
from tests.wrong.texts import wrong_predicate

_Row = tuple[str, tuple[str, ...], tuple[str, ...]]
_CALLS: tuple[_Row, ...] = (
    (
        "client.publish(@)",
        ("attribute", "message", "value", "name"),
        (
            *("None", "'a=1'", "[('a', 1)]", "{'a': None}", "{'a': [1]}", "{1: 2}", "{'': 1}", "{'a': 2**70}"),
            *("{'a': float('nan')}", "{'a': b'x'}", "{'a' * 300: 1}", "{'a': 'x' * 70000}", "{'a': {'b': 1}}", "5"),
            "{str(n): n for n in range(200)}",
        ),
    ),
    ("client.publish({'a': 1}, @)", ("payload",), ("'text'", "5", "b'x' * 2_000_000", "['x']", "{}")),
    ("client.publish({'a': 1}, confirm=@)", ("confirm",), ("'stored'", "'Kept'", "'disk'", "7")),
    (
        "client.publish({'a': 1}, ttl_s=@)",
        ("ttl",),
        ("'soon'", "-1", "0", "'5 weeks'", "[]", "True", "'1h30m'", "''", "float('nan')", "1e30"),
    ),
    ("client.publish({'a': 1}, space=@)", ("space",), ("5", "[]")),
    ("client.publish({'a': 1}, require_stored=True@)", ("require_stored", "confirm"), ("", ", confirm=True")),
    ("with client.subscribe(@): pass", ("predicate",), ("None", "5", "b'x'", "''", "{'a': 1}", "['a = 1']", "print")),
    ("with client.subscribe('true', group=@): pass", ("group",), ("''", "5", "'x' * 300")),
    ("with client.subscribe('true', wait=@): pass", ("wait",), ("''", "5", "'all'", "True")),
    ("with client.subscribe(@): pass", ("predicate",), ("",)),
    ("client.durable('k', 'true', ack_wait_s=@)", ("ack_wait",), ("'soon'", "0", "-3", "'99999d'", "[]")),
    ("client.durable('k', 'true', bytes=@)", ("bytes",), ("'1 GB'", "0", "-1", "1.5", "'big'", "None")),
    ("client.durable('k', 'true', start=@)", ("start",), ("'latest'", "5", "'yesterday'", "None", "'Earliest'")),
    ("client.durable('k', 'true', overflow=@)", ("overflow",), ("'drop'", "True", "'block'")),
    ("client.durable('k', 'true', max_deliveries=@)", ("max_deliveries",), ("-1", "'3'", "1.5", "2**40")),
    ("client.durable('k', 'true', backoff_s=@)", ("backoff_s",), ("5", "'5s'", "[0]", "['soon']", "[1] * 100")),
    ("client.durable('k', 'true', until='acked', for_=@)", ("until", "for_"), ("'1h'",)),
    ("client.durable('k', 'true', order_by=@)", ("order_by",), ("5", "''", "['a']")),
    ("client.durable(@, 'true')", ("name",), ("''", "5", "'x' * 300", "'a\\nb'", "None")),
    ("client.durable('k', @)", ("predicate",), ("''", "5", "None")),
    ("with client.consume(@): pass", ("keep",), ("'nosuch'", "5", "''", "None")),
    ("client.remove_durable(@)", ("keep",), ("'nosuch'", "5", "''", "None")),
    ("client.request({'a': 1}, timeout_s=@)", ("timeout_s",), ("-1", "'5'", "None", "float('nan')")),
    ("list(client.replay(@))", ("keep", "predicate"), ("5", "None", "''", "'nosuch'")),
    ("client.publish_many(@)", ("message", "attribute", "publish_many"), ("5", "[5]", "{'a': 1}", "[None]", "['a=1']")),
    ("client.trace({'a': 1}, timeout_s=@)", ("timeout_s",), ("'5'", "-1", "None")),
    ("tamis.connect(R, name=@)", ("name",), ("''", "5", "'x' * 300", "'two\\nlines'", "b'x'")),
    ("tamis.connect(R, token=@)", ("token",), ("5", "'x' * 5000", "b''", "['x']")),
    ("tamis.connect(R, hold_s=@)", ("hold_s",), ("0", "-1", "'10'", "1e12", "float('nan')")),
    ("tamis.connect(R, redial_s=@)", ("redial_s",), ("0", "-1", "'10'", "1e12")),
    ("tamis.connect(R, patience_s=@)", ("patience_s",), ("-1", "'10'", "float('nan')")),
    ("tamis.connect(R, inbox_bytes=@)", ("inbox",), ("0", "'1 MiB'", "1.5")),
    (
        "tamis.connect(R, spaces=@)",
        ("space",),
        ("5", "{'a': 5}", "{'trades': {'attributes': {'x': 'int'}}}", "'network.yaml'"),
    ),
    ("tamis.connect(R, outbox=@)", ("outbox",), ("'out.box'", "5")),
    ("tamis.connect(R, tls=@)", ("tls",), ("True", "'root.pem'")),
    (
        "tamis.connect(@)",
        ("address", "tamis://"),
        (
            *(
                "5",
                "None",
                "''",
                "'localhost'",
                "'127.0.0.1:7400'",
                "'http://h:1'",
                "'tamis://h'",
                "'tamis://h:99999'",
                "",
            ),
            *("['tamis://h:1']", "'tamis://h:1/x'", "'tamis+unix:'", "'TAMIS://h:1'", "b'tamis://h:1'"),
        ),
    ),
    ("with tamis.connect(@): pass", ("127.0.0.1",), (f"'tamis://127.0.0.1:{CLOSED}'",)),
)


def drawn(rng: Random) -> Case:
    """Return a call with one wrong argument."""
    if rng.random() < 0.25:
        what, text = wrong_predicate(rng)
        if len(text) > 1_000:
            text = "n = "
        return Case(f"call: predicate, {what}", (f"with client.subscribe({text!r}): pass",), ("column",), is_call=True)
    call, where, wrongs = rng.choice(_CALLS)
    words = call.replace("@", rng.choice(wrongs)).replace("R,", f"'{ROUTER}',")
    return Case("call: a wrong argument", (words,), where, is_call=True)
