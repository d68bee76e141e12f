"""Cores that follow other rules than the usual one (`core.py`).

    paper.py        section 2.1 of paper 004 to the letter

Law: a strategy has the events and the commands of the usual core.
"""
