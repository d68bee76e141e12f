"""What a router decides: topology, advertisements, broadcast trees, without a socket, a clock or chance.

Law: `Core.handle(event, now_us) -> commands`, and nothing else moves it. The same events at the same times give the
same commands, whatever the hash seed, so the order of a set is never seen. Time is a parameter in microseconds;
the owner of a core calls it with `Tick` when `core.due_us` has come.

    events.py       what can happen                     commands.py     what is to be done about it
    core.py         which part handles an event         times.py        every delay, with its reason
    timers.py       what is due when                    rate_limiter.py       what may be done only so often
    epochs.py    which epochs are believed           figures.py      what a core says of itself
    statements/     what routers say, hear and hold     ways/           which way messages go
    strategies/     other cores than the usual one
"""
