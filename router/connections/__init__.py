"""Connections of a router, to clients and to other routers.

    connections  the switch, and the peers of its connections
    peer         one peer: sends frames, reports errors, ends the connection
    limits       most connections and descriptors          admissions   admitted and refused connections
    tls          connections over TLS                      wires        transports of links
    work         long work in short slices                 traces       reports of the switch on a message
    seconds      counters, reported each second            certificate  validity of a certificate file
    certificate_watch  certificates in use                 wider_network  the other routers, or none

Law: a connection has a place before it is accepted, and frees it once, at its end.
"""
