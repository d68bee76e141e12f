"""The strategies by which routers share the work of filtering, and cores that follow other rules than `core.py`.

    registry.py       every strategy by its name: how its core is made, and how its messages go
    flood.py          every router asks for everything
    link_matching.py  every router states every filter of its clients
    paper.py          section 2.1 of paper 004 to the letter

Law: a strategy has the events and the commands of the usual core.
"""
