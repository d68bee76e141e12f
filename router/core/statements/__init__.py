"""The statements that routers send, receive and hold: predicates and link states.

    core_state.py   what the parts share                links.py        R4      sessions with neighbours
    own_predicate.py R1 R7  this router's predicate     rib.py          R2 R8   the predicates of others
    advertiser.py   R1      when it is advertised       predicates.py   R2 R3   received predicates
    cover.py        R1      filters that others cover   collecting.py   R2 R4   predicates in pieces
    damper.py       R1      damping of changes          sizes.py        how much fits one body
    flood.py        R3      versions already forwarded  exchange.py     R4 R10  requests, replies, repair
    neighbours.py   R4 R10  each neighbour              audit.py        R10     a request to the whole tree
    identity.py     R9      this router's epoch and seq freshness.py    R2      the newer of two statements
    held.py         holders of an advertisement         shards.py       a large dictionary in parts
    topology.py     R5      links that both ends list   link_states.py  R5 R8   links, and trees made of them
    route_loss.py   R14     reports of loss             spaces.py       R17     statements about spaces
    merging/        R1      several filters as one      edges/          E1-E10  statements about edges of one tree

Law: each file has the rules by which its statements are forwarded and held. The parts share `core_state.py`, and do not
depend on `core.py` and `strategies/`.
"""
