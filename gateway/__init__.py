"""The gateway: programs that speak HTTP publish and subscribe by it, each over a connection of its own to a router.

upstream.py    the connection of one foreign client to the router, and whose credential it shows
bodies.py      the bodies that are being read
posters.py     the connections by which messages of a credential are published
lines.py       the outbox of a stream of lines
feed.py        deliveries of one stream, as text, with back-pressure
http/          requests and answers
process.py     one gateway from its start to its end
"""
