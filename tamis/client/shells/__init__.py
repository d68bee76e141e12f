"""The shells of the client, for asyncio and for threads: they move the bytes and wait for answers.

Law: no rule of the protocol is here. Code that differs between `tamis.Client` and `tamis.blocking.Client` is in a pair
of files here, one of which is named `blocking_`.
"""
