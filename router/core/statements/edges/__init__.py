"""The family `edges`: routers say to each tree neighbour what the routers behind this end of the edge want.

    places.py      E1, E6: which edges a tree has, who lies behind them, and the numbers that tables know them by
    held.py        E3, E4: what a neighbour has said of the routers behind it, and when that may be relied on
    said.py        E2, E5, E7: what is said to a neighbour
    storing.py     E7: whether filters that others cover are said
    interest.py      R1, R7: what this router's own clients want, as it enters what is said
    confirming.py  E8: who waits until a filter is known everywhere
    edges.py       all edges of a router, as trees and links change

Law: a message goes to a neighbour if it satisfies what that one has said, or while it is not certain that it has said
everything. So whatever changes, messages go too far rather than not far enough.
"""
