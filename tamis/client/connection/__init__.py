"""The client without its sockets: `core`, and what it needs to speak with a router: addresses, lines, the way to
another router, and signs of life.

Law: bytes and commands in, bytes out; no socket, no clock and no event loop. `settings` holds a TLS context, and uses
none.
"""
