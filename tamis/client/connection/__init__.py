"""The client without its sockets: `core`, and the parts of it that handle addresses, connections, moves to another
router and liveness.

Law: bytes and commands in, bytes out; no socket, no clock and no event loop. `settings` holds a TLS context, and uses
none.
"""
