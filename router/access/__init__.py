"""Access in a router: who a client is, what it may do, and the guards of the switch that enforce it.

    admitted.py       what an admission yields
    in_force.py       the rules in force: admission, guards, and their change at a reload
    class_guards.py   the guards that the clients of a class share
    subscriptions.py  what rules of a class leave of subscriptions
    guard_rules.py    from the rights of a class to the filters of its guards
    client_rights.py  what the rules say about the requests of one client
    proofs.py         other proofs than tokens of the rules: certificates, signed tokens
    signed_tokens.py  tokens of issuers (JWT)
    keys.py           the public keys of an issuer
    verifying.py      verification in a thread
    audit.py          the audit log

Law: `tamis.protocol.access` decides; this room turns its decisions into admissions, guards and refusals. A router
without rules makes none of these objects.
"""
