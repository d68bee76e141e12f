"""Which way messages go between routers: functions of the topology alone.

    paths.py        R5      unique shortest paths       trees.py        R5 R6   parent, children, below
    source_trees.py, shared_tree.py, reverse_path.py    the broadcast layers    layer.py  what they have in common
    forest.py       E10 trees of roots                  reuse.py        R13 what is in the table of what others want

Law: routers with the same topology find the same ways. Nothing here knows what is stated, held or asked for.
"""
