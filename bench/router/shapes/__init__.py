"""What small networks of real routers do: each shape shows one thing.

    triangle    one message, one copy each          diamond    the router in the way dies, or falls silent
    quiet       what links carry when nothing does  saturated  control on a link that is full of messages
    clients     receivers and publishers of these   load       the load generator of the brokers, between two routers

Law: routers are processes on loopback, linked directly; what is counted is read from their administration pages or
from what clients got.
"""
