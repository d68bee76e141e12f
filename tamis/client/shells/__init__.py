"""What moves the bytes of a client and waits for its answers, by asyncio and by a thread.

Law: no rule of the protocol stands here. What `tamis.Client` and `tamis.blocking.Client` cannot do in the same words is
in a pair of files here, of which one is `blocking_`.
"""
