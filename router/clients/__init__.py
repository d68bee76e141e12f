"""Clients of a router: who they are, what they ask for, what they are told.

    clients      all of them: by connection, by name, by interface
    subscriber   what is kept for one apart from its connection: filters, interest, what it may do
    client       one client: greeting, requests, end       greeting     its name and version, proved (sans-IO)
    requests     SUBSCRIBE and UNSUBSCRIBE, sliced         acks         their answers
    grants       what a client that is let in may do       tokens       the token file, which grants
    slowing      waits for addresses that showed wrong credentials
    interest       what clients want, told to the network    trace_askers  clients that ask what became of a message
    dry_run      subscriptions that a message would reach
    moving       what clients are told that go to another router

Law: a client is the other end of a connection, and serves a subscriber, which is an interface of the table. Its
requests are worked off in slices and answered once; after its end nothing of client or subscriber is left.
"""
