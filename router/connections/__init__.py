"""Connections of a router, whatever is at their other end.

    connections  the switch, and the other ends of its connections
    other_end    what an other end is sent, what it did wrong, how it ends
    listeners    addresses that are listened on            handshakes   TLS before the greeting
    places       how many connections there may be         waiting      those that have not greeted
    admissions   who was let in and who was not            tls          a client behind TLS
    wires        what a link runs over                     work         long work in short slices
    traces       what the switch says of a message         seconds      counters, told each second
    wider_network  the other routers, or that there are none

Law: a connection has a place before it is accepted, and gives it back once, at its end.
"""
