"""The thin client: what a program holds and reads. `tamis` and `tamis.blocking` give the names; none is imported from
here.

client, subscription, attachment, responder, keeping    the faces, for asyncio
blocking/      the same faces without asyncio, made from those by `tests/docs/blocking.py`
message, gap, receipt, trail, keep_info, errors         what calls return, iterators yield, and calls raise
shells/        what moves the bytes, by an event loop or by a thread
connection/    the client without its sockets: bytes and commands in, bytes out
durable/       kept subscriptions: attachments, acknowledgements, terms
messages/      what goes out and what comes in: outbox, inbox, registry, questions, trails

Law: this package imports `protocol` and `native` and nothing else of Tamis; only faces and shells know sockets, clocks
and event loops. The rooms stand in the order of the list, and import from those below them.
"""
