"""Routers and links in virtual time.

clock.py       virtual time                       node.py        a router: core, forwarder, table, clients
direction.py   one direction of a link            sharing.py     its worker groups
link.py        sessions, cuts, silence            view.py        its state, for the judge
control.py     sizes of control frames            run_parts.py   the parts of routers
message.py     a message and its outcome          served.py      routers with service times
paths.py       shortest paths, computed once      classes.py     classes of messages, and their roots
"""
