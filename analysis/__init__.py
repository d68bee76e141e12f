"""From what routers wrote down to tables and a report, with Spark.

    records/      files of records as typed tables
    questions/    what they answer
    durable/      the question of durable subscriptions: what was due to each, and what became of it
    study.py      tables that several questions need; answers.py: all questions by name, Parquet out
    advice/       what the topology file should say instead
    page/         one page for people
    job.py, follow.py   from files to a report, once or as files arrive
    multiply.py   logs of any size, for measuring

Law: a question is a file of pure functions from DataFrames to DataFrames with schemas that `records/schemas.py` makes
of `protocol/records.py`; what reads and writes stands at the edges.
"""
