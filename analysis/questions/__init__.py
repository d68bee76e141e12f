"""The questions that records of a network answer. Each is a file of pure functions from DataFrames to DataFrames.

health.py, clocks.py            holes in the logs, and offsets of clocks
traffic.py, latency.py          where messages go, and how long they take
delivery.py                     the due and the actual deliveries of each message
matches.py, meaning.py          which filters each message satisfies; standing.py, shares.py, subscriptions.py: when
unrest.py, ways.py              when the network was changing, and which routes through it were
control_plane.py, content.py, covers.py    control frames, published contents, covered filters
"""
