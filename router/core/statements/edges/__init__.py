"""The family `edges`: routers send each tree neighbour the interest of the routers behind this end of the edge.

    places.py      E1, E6: the edges of a tree, the routers behind them, and their numbers in tables
    held.py        E3, E4: the statement of a neighbour about the routers behind it, and when it is reliable
    said.py        E2, E5, E7: the statement to a neighbour
    storing.py     E7: whether filters that others cover are sent
    interest.py    R1, R7: the interest of this router's own clients, as part of its statements
    confirming.py  E8: waits until a filter is known everywhere
    edges.py       all edges of a router, as trees and links change

Law: a message goes to a neighbour if it satisfies the neighbour's statement, or while that statement may be incomplete.
Whatever changes, messages therefore go too far rather than not far enough.
"""
