"""A network of simulated routers with its clients, and all of its events.

world.py   routers and links, and each operation done to them    recorder.py   through which everything passes
clients.py homes and subscriptions                               trace.py      the digest of all of it
waits.py   answers that all know, and whether they are true      byzantine.py       a router that lies
"""
