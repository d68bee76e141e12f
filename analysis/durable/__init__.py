"""Whether every message that was due to a keep is there or has left as it may, and nobody got what was not due to him.

Law: a keep is judged by the records of its own router, by that router's clock. What falls into a hole of the records,
or may have been undone by a crash, is unknown and no fault.

    book.py      keeps, members, lives and holes, from events: what a message is judged by
    fate.py      one message of one keep: what became of it, and what is wrong with that
    audit.py     the records of messages, gathered by keep and position, judged where they lie
    figures.py   tables of it, and of how keeps stood
"""
