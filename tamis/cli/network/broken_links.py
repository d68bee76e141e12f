"""Sentences about links that are down (since when, why the last connection ended, and why no new one was made), and
about what the borders of links refused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from tamis.cli.tables import duration


def broken_links(router: str, status: dict[str, Any]) -> Iterator[str]:
    """Return the sentences for one router, from its `/status`."""
    network = status.get("network")
    for link in network["links"] if network else ():
        if link["state"] != "up":
            yield f"{router}: {_sentence(link)}"
        statements, messages = link.get("statements_refused", 0), link.get("refused", 0)
        if statements or messages:
            what = f"{statements:,} statements and {messages:,} messages"
            yield f"{router}: refused from {link['neighbour']}, by the border of the link: {what}"


def _sentence(link: dict[str, Any]) -> str:
    since_s = link.get("down_since_s")
    word = "down" if link["sessions"] else "down, since the start of the router,"
    down = f"is {word}" if since_s is None else f"has been {word} for {duration(max(0.0, time.time() - since_s))}"
    ended, now = link.get("down_because", ""), link["problem"]
    text = f"the link to {link['neighbour']} {down}" + (f": {ended}" if ended else "")
    if link["dials"] is None:
        text += f"; {link['neighbour']} must connect, and does not"
    return text + (f"; {link['dials'] or 'now'}: {now}" if now and now != ended else "")
