"""What the topology file should say instead, for the traffic that the logs have.

Law: nothing is advised that the logs do not support; "nothing to change, because ..." is an answer. Each rule says what
it looks at, from where on it speaks up and why from there, and promises a figure that the logs of the changed network
will show or not show.

    evidence.py    DataFrames to small DataFrames: match times, overflows, frames between routers, matches, names
    trials.py      the engines on the recorded messages and filters, timed: the one part that measures
    graph.py       how many links a message has to cross
    engines.py, queues.py, forwarding.py, carrying.py, planned.py    the rules
    rules.py       all of them by name
    say.py         what a piece of advice is
    job.py         the edge: the topology file in, tables, a changed file and a patch out
"""
