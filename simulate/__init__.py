"""A network of routers in virtual time: the same core objects, faults of every kind, and a judge that knows the truth.

Law: a run is a function of its scenario; the same seed gives the same trace, whatever the hash seed. What the judge
(`oracle/`) uses to judge shares no code with the routers.

    faults/      what a run begins with, and what is done to it      oracle/    what must be, and what was
    twin/        what routers do in C, in Python                     account/   records of a run, and what an analysis
    nodes/       routers and links in virtual time                              of them must find
    world/       all of them together, with their clients
    run.py       one run; report.py: its counts                      ledger.py  many runs, added up
    settle.py    waiting, probing, looking                           drills.py  what one change may cost
    breaks.py    a rule left out; needed.py: that each is needed     shrink.py  the fewest operations that still fail

Law: twin, faults < oracle < nodes < account < world < the files of this folder.
"""
