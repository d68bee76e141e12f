"""A network of simulated routers with its clients, and all of its events.

world.py   routers and links, and each operation on them         recorder.py   the receiver of all events
clients.py homes and subscriptions                               trace.py      the digest of all events
waits.py   answers to waits, and whether they are true           byzantine.py  a hostile router
"""
