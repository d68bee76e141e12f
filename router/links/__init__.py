"""Links to the neighbours of a router, from the first SYN to the routing core.

    network     owns the core: events in, commands out     neighbours  one session for each neighbour
    neighbour   one neighbour, over all of its links       figures     counters of its links
    link        one session, from greeting to end          dialler     repeated attempts to connect
    greeting    name and version, proved (sans-IO)         backoff     waits between attempts to connect
    outgoing    control frames that wait for one link      packing     a body as frames, once for all links
    incoming    parts -> bodies, in slices                 installing  filters of others into the table, in slices
    routes      routes of the switch, from trees           losses      losses between routers, reported to clients
    step        whether neighbours are in step             holding     the digest of the switch's tables
    around      interfaces that the network needs          joined      the network, made from settings
    classes     classes of messages                        covering    the index of covered filters, in C
    secret      the file of a link's secret                tls         certificates of neighbours

Law: a neighbour's control bodies reach the core only through an open session, whole and decoded. Messages do not pass
here: C moves them between links as it does between clients.
"""
