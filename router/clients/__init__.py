"""Clients of a router: admission, requests and notifications.

    clients      all clients: by connection, by name, by interface
    subscriber   state of a client apart from its connection: filters, interest, limits
    client       one client: greeting, requests, end       greeting      name, version and credential (sans-IO)
    requests     SUBSCRIBE and UNSUBSCRIBE, in slices      acks          answers to these
    grants       result of an admission                    tokens        the token file
    principals   owner names of clients                    slowing       delays after wrong credentials
    interest     filters of clients, for the network       trace_askers  clients that wait for reports on a message
    dry_run      subscriptions that a message would reach  moving        notices to clients of a router that stops
    durables      requests about durable subscriptions      series        clients with metrics of their own

Law: a client is the peer of a connection and serves a subscriber, which is an interface of the table. Its requests are
processed in slices and answered once; after its end no state of client or subscriber is left.
"""
