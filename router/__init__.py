"""The daemon: one router of the network, from its first log line to its last flushed queue.

    daemon       startup, serve, drain, stop           settings       the topology file as this router uses it
    listeners    addresses that are listened on        exposure       which of them may be, without credentials
    plane        the switch and its clients            tls            a client behind TLS
    client       one client: greeting, requests        greeting       who is it, in which version (sans-IO)
    requests     SUBSCRIBE and UNSUBSCRIBE, sliced     acks           their answers
    work         long work in short slices             stalls         how long the loop was held
    tokens       the token file                        logs, notify   what others are told
    dry_run      whom a message would reach            reports        what became of a message
    admin/       HTTP for people and their tools       links/         links to other routers

Law: a message never becomes a Python object here. C moves it (`tamis.native.Switch`); this package decides who is let
in, what they subscribe to, and when they have to go. Nothing holds the loop for more than 50 ms.
"""
