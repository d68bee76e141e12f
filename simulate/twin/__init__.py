"""The C parts of a router in plain Python: the simulator's routers use them, and tests compare the C with them.

forwarder.py     the route of a message             cover_index.py   which filters cover which: `postings.py` and
windows.py       duplicates                                          `buckets.py` find the candidates
policies.py      forwarding by strategy             filter_index.py  the index of a router's core
group_choice.py  the member that receives it        table.py         issuers with matching filters
"""
