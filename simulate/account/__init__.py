"""The simulator's own account of a run, beside the records that its routers wrote: what an analysis must find.

Law: told by the recorder as things happen, in the simulation's time; never read back from a record. Of the attributes
of a part, those without an underscore are written. Seconds are those of the router's own clock.

    account.py     all of it, and who is told what
    messages.py    what was said, and where it went        interfaces.py    what each of them counted, by second
    control.py     what routers told each other            changes.py       lives, links, topologies, clocks
    wants.py       what clients asked for, from when to when
"""
