"""From what routers wrote down to tables and a report, with Spark.

Law: a question is a file of pure functions from DataFrames to DataFrames with schemas that `schemas.py` makes of
`protocol/records.py`; what reads and writes stands at the edges:

    java.py, session.py    a Java runtime, and Spark in it
    class_archive.py       Spark's classes as an earlier analysis left them, for a quicker start
    parts.py               in how many parts records are sent around
    files.py, reading.py, logs.py      which files there are, and their lines as typed records
    health.py, clocks.py   what is missing in the logs, and how far clocks are apart
    traffic.py, latency.py, delivery.py, control_plane.py, content.py, covers.py    the questions
    kept/                  the question of keeps: what was due to each, and what became of it
    unrest.py, ways.py     when the network was changing, and which ways through it were
    answers.py             all of them by name; Parquet out
    advice/                what the topology file should say instead
    job.py, follow.py      from files to a report, once or as files arrive
    report.py, remarks.py, plots.py            one page for people:
    table_view.py, humane.py, style.py         its tables, figures and colours
    network_map.py, chart.py, svg.py           its drawings; those of benchmarks are made with svg.py
    multiply.py            logs of any size, for measuring
"""
