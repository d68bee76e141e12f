"""The simulator's own account of a run, beside the records that its routers wrote: what an analysis must find.

Law: filled by the recorder as events happen, in the simulation's time; never read back from a record. Of the attributes
of a part, those without an underscore are written. Seconds are those of the router's own clock.

    account.py     all parts, and which events each receives
    messages.py    published messages and their routes     interfaces.py    counts of interfaces, by second
    control.py     frames between routers                  changes.py       lives, links, topologies, clocks
    wants.py       subscriptions of clients, and when they were in force
"""
