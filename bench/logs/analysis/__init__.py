"""How fast logs are analysed, and in how much memory: `python -m tamis.bench.logs.analysis --records 10_000_000`.

ring.py        the logs of five real routers under traffic, small
measured.py    one analysis of them, many times over, in a process of its own
__main__.py    all of it, side by side
"""
