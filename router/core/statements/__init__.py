"""What routers say of themselves, hear of others and hold: predicates and link states.

    core_state.py   what the parts share                links.py        R4      sessions with neighbours
    own_predicate.py R1 R7  what this router asks for   rib.py          R2 R8   what the others ask for
    advertiser.py   R1      when it is said             predicates.py   R2 R3   what is heard
    cover.py        R1      what others cover           collecting.py   R2 R4   what comes in pieces
    damper.py       R1      changes wait                sizes.py        how much one body states
    flood.py        R3      what was passed on          exchange.py     R4 R10  requests, replies, repair
    neighbours.py   R4 R10  each neighbour              audit.py        R10     a question to the whole tree
    identity.py     R9      this router's epoch and seq freshness.py    R2      which of two is the newer
    held.py         who holds an advertisement          shards.py       a large dictionary in parts
    topology.py     R5      links that both ends list   link_states.py  R5 R8   links, and trees made of them
    route_loss.py  R14     loss is told                    spaces.py       R17     what is said of spaces

Law: a statement is passed on and held by the rules of its own file. The parts share `core_state.py`, and know nothing
of `core.py` and `strategies/`.
"""
