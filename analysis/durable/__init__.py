"""The check of durable subscriptions: every due message is stored or has left correctly, and no other was delivered.

Law: a durable subscription is judged by the records of its own router, by that router's clock. Anything in a hole of
the records, or that a crash may have undone, is unknown and no fault.

    catalog.py   durable subscriptions, consumers, lives and holes, from events: the basis of judgement
    fate.py      one message of one durable subscription: its outcome, and its faults
    audit.py     the records of messages, grouped by durable subscription and position, and judged there
    grounds.py   what of that basis concerns the records of a chapter: equal grounds mean equal findings
    figures.py   tables of outcomes, and of the state of durable subscriptions
"""
