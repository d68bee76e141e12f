"""A stranger: a client and a neighbour router written from docs/reference/wire.md and docs/reference/language.md alone.

    frames      bytes of frames, both ways                  client      Stranger: a client on a plain socket
    predicates  digests, parts, packed filters              neighbour   Neighbour: the role of a linked router
    meaning     when a filter admits a message              random      filters and messages drawn by chance
    routers     the routers under test, as processes

Law: nothing here imports anything of the project: the standard library and msgpack only. What the pages do not say,
the stranger does not know.
"""
