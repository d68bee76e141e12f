"""A network of routers in virtual time: real core objects, faults of every kind, and a judge with the true state.

Law: a run is a function of its scenario; equal seeds give equal traces, for any hash seed. The judge (`oracle/`) shares
no code with the routers.

    faults/      initial state and operations of a run               oracle/    the expected and the actual behaviour
    twin/        the C parts of a router, in Python                  account/   records of a run, and what an analysis
    nodes/       routers and links in virtual time                              of them must find
    world/       all of them together, with their clients
    run.py       one run; report.py: its counts                      ledger.py  totals of many runs
    settle.py    waiting, probes, examination                        drills.py  the cost of one change
    breaks.py    a rule left out; needed.py: each rule is needed     shrink.py  the fewest operations that still fail

Law: twin, faults < oracle < nodes < account < world < the files of this folder.
"""
