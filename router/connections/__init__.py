"""Connections of a router, whatever is at their other end.

    connections  the switch, and the other ends of its connections
    other_end    the peer: what is sent to it, what it did wrong, how it ends
    listeners    addresses that are listened on            handshakes   TLS before the greeting
    places       how many connections there may be         waiting      connections that have not greeted
    admissions   connections let in and not let in         tls          connections behind TLS
    wires        what a link runs over                     work         long work in short slices
    traces       what the switch says of a message         seconds      counters, told each second
    wider_network  the other routers, or that there are none

Law: a connection has a place before it is accepted, and gives it back once, at its end.
"""
