"""What routers do in C, in plain Python: what the simulator's routers are made of, and what the C is compared with.

forwarder.py     where a message goes               cover_index.py   which filters cover which: `postings.py` and
windows.py       which messages came before                          `buckets.py` say which to ask
policies.py      what a strategy does with it       filter_index.py  that, as a router's core asks for it
group_choice.py  which member of a group gets it    table.py         which issuers want a message
"""
