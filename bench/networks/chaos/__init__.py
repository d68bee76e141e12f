"""Real routers in a random network under traffic, while processes are killed and stopped and links cut and added.

    contents   what is published, and what clients want       fleet    the clients, and every message they publish
    judge      what must arrive, by the simulator's oracle    faults   one operation: a fault, and its end
    run        operations one by one, within given minutes    report   medians, p95 and worst

Law: every delivery is judged, by what the bench itself did and not by what a router says. A run ends by itself and
leaves no process behind.
"""
