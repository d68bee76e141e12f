"""What the records of a network answer. A question is a file of pure functions from DataFrames to DataFrames.

health.py, clocks.py            what is missing in the logs, and how far clocks are apart
traffic.py, latency.py          where messages go, and how long they take
delivery.py                     which client should have got which message, and which did
matches.py, meaning.py          which filters each message satisfies; standing.py, shares.py, subscriptions.py: when
unrest.py, ways.py              when the network was changing, and which ways through it were
control_plane.py, content.py, covers.py    what routers say, what is published, which filters say no more
"""
