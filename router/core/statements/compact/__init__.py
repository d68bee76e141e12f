"""Tables of many short rows in few objects, so that a row takes little more than its bytes.

pages.py    packed bytes by number
names.py    names in order, with the places that have them
"""
