"""Recommended changes of the topology file, for the traffic in the logs.

Law: nothing is advised that the logs do not support; "nothing to change, because ..." is an answer. Each rule states
its input, its threshold and the reason for the threshold, and promises a figure that the logs of the changed network
will confirm or refute.

    evidence.py    DataFrames to small DataFrames: match times, overflows, frames between routers, matches, names
    trials.py      the engines on the recorded messages and filters, timed: the one part that measures
    graph.py       how many links a message has to cross
    engines.py, queues.py, forwarding.py, carrying.py, planned.py    the rules
    rules.py       all of them by name
    say.py         the form of a piece of advice
    job.py         the edge: the topology file in, tables, a changed file and a patch out
"""
