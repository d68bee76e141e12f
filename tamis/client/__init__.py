"""The thin client. Pure: bytes and commands in, bytes out; around it two shells with the same names.

core        a client without its sockets               client, subscription   what asyncio applications hold
outbox      what goes out: credit, confirmations       pump                   the asyncio shell of the core
registry    subscriptions, and what was answered       blocking               the same for programs without asyncio
wanted      one subscription, as it travels            dialling, clock        what both shells share
inbox       what was received and not yet taken        settings, address      what `connect` is told
line        one connection of the core                 overlap               each message once, by two routers
handover    how a client goes to another router
redial      which address next, and when               message, gap           what iterators yield
liveness    signs of life                              waiter, errors         how a call ends
trails      messages whose way is followed             trail                  what became of one
questions   questions that wait for an answer          responder             what yields questions
published   what an application publishes              callbacks              what it is told as it happens

Law: this package imports `protocol` and nothing else of Tamis; the left column imports no socket, no clock and no event
loop.
"""
