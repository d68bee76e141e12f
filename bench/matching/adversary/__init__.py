"""What 10,000 filters of one client can do to one message: shapes made to hurt, and a search for the worst of them.

    shapes.py   a family of shapes: its knobs, how filters and messages are made of them, and the plain table beside
    names.py values.py patterns.py boxes.py buckets.py intervals.py    the six families
    search.py   the search for the worst one
    page.py     the page of what was found

Law: a shape stays within the filters that a client is allowed by default and what a message may hold; at most a tenth
of its filters match, because deliveries are paid for elsewhere. A factor is against a plain table of the
same number of filters and a message of the same size: the same shape drawn at random in place of chosen.
"""
