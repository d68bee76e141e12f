"""Which way messages go between routers: functions of the topology alone, and their pure twins of the switch.

    paths.py        R5      unique shortest paths       trees.py        R5 R6   parent, children, below
    source_trees.py, shared_tree.py, reverse_path.py    the broadcast layers    layer.py  what they have in common
    forwarder.py    R5b R6 R11   where a message goes   windows.py      R11 R11b which messages came before

Law: routers with the same topology find the same ways. Nothing here knows what is stated, held or asked for.
"""
