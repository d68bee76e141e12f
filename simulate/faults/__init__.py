"""The initial state and operations of a run, as plain data: a network, filters and messages of clients, and faults.

topologies.py   shapes of a given size, and files      faults.py    the operations of a run, made from a seed
workload.py     filters, contents, publishers          schemas.py   the spaces of a run
"""
