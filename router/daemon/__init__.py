"""One router as a process.

    daemon       startup, serve, drain, stop               happenings   what happens, told to who listens
    settings     the topology file as this router uses it  exposure     addresses allowed without credentials
    epoch        a number greater at every start           fault_injection  faults put in on purpose
    logs, notify what others are told                      health       alarms, and exceptions nobody expected
    stalls       how long the loop was held                process      what the system says of this process
    addresses    where somebody connects from

Law: `daemon` is the only file that knows all rooms; the others here know none of them.
"""
