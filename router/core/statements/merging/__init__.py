"""R1: several filters of this router's clients stated as one that covers them, which admits a bounded share more.

    own_merged.py   the statement of a router that merges: when filters are merged, and when narrower ones come back
    alike.py        which filters to try: those next to a filter in the order of each attribute

Law: a merged filter is stated like one that a client wants, and only covering sets its parts aside. So whatever is
merged, each wanted filter is stated or covered by a stated one.
"""
