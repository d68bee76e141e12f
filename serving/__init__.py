"""Serving foreign clients over HTTP, for administration and for the gateway.

    http            one connection: requests in order, bodies by pieces, whole and streaming answers, upgrade
    request_reader  requests from bytes, without a socket
    answers         answers as bytes                       problem   errors as RFC 9457 has them
    waiting         connections that have not greeted

Law: nothing here knows a router. Whatever bytes a client sends, and however slowly it sends or reads, it costs bounded
memory and a bounded time of the loop.
"""
