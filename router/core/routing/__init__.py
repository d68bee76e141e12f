"""Routing of messages between routers: functions of the topology alone.

    paths.py        R5      unique shortest paths       trees.py        R5 R6   parent, children, below
    source_trees.py, shared_tree.py, reverse_path.py    the broadcast layers    layer.py  their common part
    forest.py       E10 trees of roots                  reuse.py        R13 sets of routers that want a message

Law: routers with equal topologies find equal paths. Nothing here depends on what is stated, held or requested.
"""
