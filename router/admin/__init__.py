"""Administration over HTTP: health, metrics, status, tables, explanations.

    server     requests and answers, by h11       pages      path -> answer
    view       what there is to look at           routes     links and routes as JSON
    metrics    the Prometheus page                exposition its text format

Law: a page does not change how the router routes, and takes a bounded time however large the tables are.
"""
