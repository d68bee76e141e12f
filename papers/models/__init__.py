"""The structures of the papers to the letter, slow and small: twins of the engines in C, from which their steps come.

Law: nothing here imports `tamis.native` or `tamis.router`; a model knows filters and messages, and counts what its
paper counts.
"""
