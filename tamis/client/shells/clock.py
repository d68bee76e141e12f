"""The clocks and random numbers that shells pass to the core.

Law: message counters start from the clock in nanoseconds: a client that does not store its counter must not reuse one
under its name after a restart, and no client publishes a message per nanosecond for long. A client that stores its
counter in a file continues from there.
"""

from __future__ import annotations

import os
import random
import time

from tamis.client.connection.core import ClientCore, NewOutbox
from tamis.client.connection.settings import Settings
from tamis.client.connection.walker import new_walker
from tamis.client.messages.waiter import Waiter


def new_core(settings: Settings, opened: Waiter, outbox: NewOutbox | None = None) -> ClientCore:
    """Return the core of a client; `outbox` makes its outbox, if not one that `settings` ask for."""
    now_ns = time.time_ns()
    stored = outbox or _stored(settings, now_ns)
    return ClientCore(settings, now_ns, random.random, os.urandom, _unix_us, new_walker(), opened, stored)


def _unix_us() -> int:
    return time.time_ns() // 1_000


def _stored(settings: Settings, first_counter: int) -> NewOutbox | None:
    if settings.outbox is None:
        return None
    from tamis.client.messages.outbox_file import OutboxFile
    from tamis.client.messages.stored_outbox import StoredOutbox

    file = OutboxFile(settings.outbox, settings.name, first_counter)
    return lambda number, tell: StoredOutbox(number, file, tell)
