"""The C parts of a router in plain Python: the simulator's routers use them, and tests compare the C with them.

forwarder.py     where a message goes               cover_index.py   which filters cover which: `postings.py` and
windows.py       which messages came before                          `buckets.py` say which to ask
policies.py      what a strategy does with it       filter_index.py  the index of a router's core
group_choice.py  which member of a group gets it    table.py         issuers with matching filters
"""
