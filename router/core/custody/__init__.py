"""Custody of messages that durable subscriptions at other routers want: rules C1 to C15 (docs/design/rules.md).

    frames.py     what entries and homes send to each other
    records.py    what they write to their logs
    commands.py   what they have their owner do
    chain.py      the messages of one entry for one home, in order
    entry.py      the router that a message enters
    home.py       the router where durable subscriptions live

Law: both are values without input and output. The owner carries out commands in their order, reports what is on disk,
and gives each a new life from its records. Transit routers have no part in it.
"""
