"""The judge. It knows which routers live, which links work and the subscriptions of each client, and shares no code
with the routers.

Law: nothing here imports `tamis.router` or `tamis.protocol`. The judge receives the state of routers as plain numbers
and mappings (`view.py`), and events as calls. A violation names its invariant.

    violation.py    a broken invariant     meaning.py       which contents a filter matches
    truth.py        state and history      paths.py         the shortest paths of a graph
    deliveries.py   1 2 3: deliveries      tables.py        4 6: tables of routers at rest
    costs.py        7 8 9 11: amounts
"""
