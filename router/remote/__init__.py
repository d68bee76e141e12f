"""Clients that consume or read a durable subscription whose home is another router.

Law: a client has one remote session for each home that it uses. Its near end is here if the client is
connected here (`near`), its far end if this router is the home (`far`). The switch moves deliveries, acknowledgements
and credit; requests and their answers pass here.
"""
