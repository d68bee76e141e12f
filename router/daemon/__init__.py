"""One router as a process.

    daemon       startup, serve, drain, stop               events       events, sent to listeners
    settings     the topology file as this router uses it  exposure     addresses allowed without credentials
    epoch        a number greater at every start           fault_injection  deliberate faults
    logs, notify output for people and for systemd         health       alarms, and unexpected exceptions
    stalls       how long the loop was held                process      figures of the system about this process
    addresses    the address that a peer connects from     exit_codes   exit codes of a router
    start        checks before a router starts             spaces_in_force  the spaces that validate messages

Law: `daemon` is the only file that depends on all folders of the router, and `start` depends on those with credentials;
the other files here depend on none of them.
"""
