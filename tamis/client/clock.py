"""The clocks and the random numbers that shells hand to the core.

Law: message counters start from the clock in nanoseconds: a client that keeps no counter across restarts must not use
one twice under the same name, and no client publishes a message a nanosecond for long.
"""

from __future__ import annotations

import os
import random
import time

from tamis.client.core import ClientCore
from tamis.client.settings import Settings
from tamis.client.waiter import Waiter
from tamis.client.walker import new_walker


def new_core(settings: Settings, opened: Waiter) -> ClientCore:
    return ClientCore(settings, time.time_ns(), random.random, os.urandom, new_walker(), opened)
