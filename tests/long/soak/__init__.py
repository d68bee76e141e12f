"""A soak of custody: eight routers, of which three are entries and three are homes, under faults of five kinds.

schedule    which faults come when, by a seed      load    publishers that move, and consumers
network     the routers, and how a fault is done   judge   what may be missing, from the journal alone
"""
