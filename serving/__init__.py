"""Serving foreign clients over HTTP, for administration and for the gateway.

    http            one connection: requests in order, bodies by pieces, whole and streaming answers, upgrade
    request         a request and a stream, for handlers      cannot_start  errors that prevent the start
    request_reader  requests from bytes, without a socket     answers       answers as bytes
    problem         errors as RFC 9457 has them               bearer        credentials of requests
    origin          hosts, origins of pages, CORS             listeners     listening addresses
    waiting         connections that have not greeted         handshakes    TLS before the greeting
    tls_contexts    certificates and their files              addresses     the address of a peer, for limits

Law: nothing here knows a router. Whatever bytes a client sends, and however slowly it sends or reads, it costs bounded
memory and a bounded time of the loop.
"""
