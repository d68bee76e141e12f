"""A network of simulated routers with its clients, and everything that happens in it.

world.py   routers and links, and each operation done to them    recorder.py   through which everything passes
clients.py where they are, what they want                        trace.py      the digest of all of it
waits.py   answers that all know, and whether they are true      byzantine.py       a router that lies
"""
