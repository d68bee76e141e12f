"""The classes of `tamis.blocking`, for programs without asyncio. Each file is generated from that of the same name
above it.

Law: any thread may call anything; a call waits on a future of its own, and never holds the lock while it waits.
"""
