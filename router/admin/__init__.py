"""Administration over HTTP: health, metrics, status, tables, explanations.

    server     requests and answers               pages      path to answer
    view       the parts of a router to show      routes     links and routes as JSON
    metrics    the Prometheus page                exposition its text format
    guard      which requests are accepted        rates      limits of expensive pages

Law: a page does not change how the router routes, and takes bounded time for tables of any size.
"""
