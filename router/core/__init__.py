"""The routing decisions of a router: topology, advertisements and broadcast trees, without sockets, clock or
randomness.

Law: `Core.handle(event, now_us) -> commands` is the only entry. Equal events at equal times give equal commands,
whatever the hash seed: the order of a set never matters. Time is a parameter in microseconds; the owner of a core calls
it with `Tick` when `core.due_us` has come.

    events.py       input of a core                     commands.py     output of a core
    core.py         which part handles an event         times.py        every delay, with its reason
    timers.py       timers by name                      rate_limiter.py a limit on repeated actions
    epochs.py       which epochs are valid              figures.py      figures of a core
    statements/     statements sent, received and held  routing/        which paths messages take
    strategies/     cores of other strategies
"""
