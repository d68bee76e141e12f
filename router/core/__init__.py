"""What a router decides: topology, advertisements, broadcast trees, without a socket, a clock or chance.

Law: `Core.handle(event, now_us) -> commands`, and nothing else moves it. The same events at the same times give the
same commands, whatever the hash seed, so the order of a set is never seen. Time is a parameter in microseconds;
whoever owns a core calls it with `Tick` when `core.due_us` has come.

    events.py       what can happen                     commands.py     what is to be done about it
    core.py         which part an event concerns        times.py        every delay, with its reason
    own.py          R1 R7   what this router asks for   rib.py          R2 R8   what the others ask for
    flood.py        R3      who has heard what          exchange.py     R4 R10  requests, replies, repair
    identity.py     R9      epoch and seq of one's own  held.py         who holds an advertisement
    topology.py     R5      links that both ends list   paths.py        R5      unique shortest paths
    trees.py        R5 R6   parent, children, below     forwarder.py    R5b R6 R11   where a message goes
    windows.py      R11 R11b what came before           paper.py        paper 004 to the letter
    figures.py              what a core says of itself
"""
