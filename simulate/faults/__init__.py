"""What a run begins with, as plain data: a network, its clients' filters and messages, and what is done to them.

topologies.py   shapes of a given size, and files      faults.py    the operations of a run, made from a seed
workload.py     filters, contents, publishers          schemas.py   the spaces of a run
"""
