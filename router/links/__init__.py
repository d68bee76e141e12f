"""Links to the neighbours of a router, from the first SYN to the routing core.

    network     owns the core: events in, commands out     neighbours  one session for each neighbour
    neighbour   one neighbour, over all of its links       figures     what its links have carried
    link        one session, from greeting to end          dialler     connecting, again and again
    greeting    name and version, proved (sans-IO)         backoff     waits between attempts to connect
    outgoing    control frames that wait for one link      packing     a body as frames, once for all links
    incoming    parts -> bodies, in slices                 installing  filters of others into the table, in slices
    routes      trees as the switch has them               losses      losses between routers, told to clients
    step        whether neighbours are in step
    secret      the file of a link's secret                tls         certificates of neighbours

Law: what a neighbour says reaches the core only through an open session, whole and decoded. Messages do not come here:
C moves them between links as it does between clients.
"""
