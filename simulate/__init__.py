"""A network of routers in virtual time: the same core objects, faults of every kind, and a judge that knows the truth.

Law: a run is a function of its scenario; the same seed gives the same trace, whatever the hash seed. What the judge
(`oracle/`) uses to judge shares no code with the routers.

    clock.py        virtual time                       direction.py    one way of a link: lanes, queues, accounts
    link.py         sessions, cuts, silence            node.py         a router: core, forwarder, table, clients
    table.py        filters -> issuers, purely         control.py      how large a control frame is
    message.py      a message and what became of it    recorder.py     through which everything passes
    trace.py        the digest of all of it            paths.py        shortest paths, once for all
    topologies.py   tree, line, ring, grid, ...        workload.py     filters, contents, publishers
    faults.py       what is going to be done to it     world.py        routers and links, and doing it
    clients.py      where they are, what they want     waits.py        answers that all know, and whether it is so
    liar.py         a router that lies
    settle.py       waiting, probing, looking          drills.py       what one change may cost
    oracle/         what must be, and what was         run_parts.py    what its routers are made of
    breaks.py       a rule left out                    shrink.py       the fewest operations that still fail
    view.py         what a router holds, to the judge  run.py          one run
    report.py       its counts                         ledger.py       many runs, added up
    logbook.py      what routers write down            log_files.py    the files that it comes into
    wall.py         their clocks                       account/        what an analysis of that must find
"""
