"""The daemon: one router of the network, from its first log line to its last flushed queue.

    daemon/        one process: startup, serve, drain, stop; settings, logs, epoch, health
    connections/   what is accepted or dialled: addresses, places, TLS, the switch and the other ends of its connections
    clients/       one client: greeting, tokens, SUBSCRIBE and UNSUBSCRIBE, what became of its messages
    links/         links to other routers, and the network that they make
    core/          what a router decides, without a socket or a clock
    records/       what a router writes down            admin/         HTTP for people and their tools
    supervisor/    several routers of one machine, started and kept

Law: a message never becomes a Python object here. C moves it (`tamis.native.Switch`); this package decides which peers
are let in, what they subscribe to, and when they have to go. Nothing holds the loop for more than 50 ms.
"""
