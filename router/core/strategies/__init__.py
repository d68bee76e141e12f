"""The strategies by which routers share the work of filtering, and the cores whose rules differ from `core.py`.

    registry.py       every strategy by its name: its core, and the policy of its messages
    edges.py          profile forwarding: interest behind the edges of one tree
    rendezvous.py     rendezvous nodes: interest towards the root of a class
    flood.py          every router requests everything
    link_matching.py  every router states every filter of its clients
    paper.py          section 2.1 of paper 004 to the letter
    paper_meaning.py  section 2.1 of paper 004, with covering

Law: a strategy has the events and the commands of the usual core.
"""
