"""The questions that records of a network answer. Each is a file of pure functions: from Spark's tables of records to
small sums, from sums to tables, and from batches of messages to batches.

health.py, clocks.py            holes in the logs, and offsets of clocks
traffic.py, latency.py          where messages go, and how long they take
delivery.py                     the due and the actual deliveries of each message
matches.py, meaning.py          the records of each message, and which filters it satisfies
programs.py                     what residual programs leave of that
subscriptions.py, demand.py     subscriptions in force, and which of them may want a message
standing.py, shares.py          whether a message was due to a subscription, or to a worker group
unrest.py, ways.py              when the network was changing, and which routes through it were
control_plane.py, content.py, covers.py    control frames, published contents, covered filters
verdict_counts.py               counts of verdicts, from the tables
"""
