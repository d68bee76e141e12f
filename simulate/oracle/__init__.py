"""The judge. It knows which routers live, which links carry and what each client wants, and shares no code with the
routers.

Law: nothing here imports `tamis.router` or `tamis.protocol`. What routers hold reaches the judge as plain numbers and
mappings (`view.py`), what happens as calls. A violation names the invariant that it breaks.

    violation.py    what was found         meaning.py       which contents a filter matches
    truth.py        what is and was so     paths.py         the shortest ways of a graph
    deliveries.py   1 2 3: who gets what   tables.py        4 6: what routers hold at rest
    costs.py        7 8 9 11: how much
"""
