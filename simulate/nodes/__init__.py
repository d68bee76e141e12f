"""Routers and links in virtual time.

clock.py       virtual time                       node.py        a router: core, forwarder, table, clients
direction.py   one way of a link: lanes, queues   sharing.py     what it does for worker groups
link.py        sessions, cuts, silence            view.py        what it holds, to the judge
control.py     how large a control frame is       run_parts.py   what routers are made of
message.py     a message and what became of it    served.py      routers that take time for what they do
paths.py       shortest paths, once for all       classes.py     classes of messages, and their roots
"""
