"""One router as a process.

    daemon       startup, serve, drain, stop               events   what happens, told to listeners
    settings     the topology file as this router uses it  exposure     addresses allowed without credentials
    epoch        a number greater at every start           fault_injection  faults put in on purpose
    logs, notify what people and systemd are told          health       alarms, and unexpected exceptions
    stalls       how long the loop was held                process      what the system says of this process
    addresses    the address that a peer connects from     exit_codes   how a router ends
    start        what is checked before a router starts

Law: `daemon` is the only file that knows all folders of the router, and `start` knows those with credentials; the other
files here know none of them.
"""
