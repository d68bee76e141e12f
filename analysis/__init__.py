"""From the records of routers to tables and a report, with Spark.

    spark/        Spark's session, here or on other machines
    records/      files of records as typed tables
    questions/    functions that answer questions from them
    durable/      the question of durable subscriptions: the messages due to each, and their outcomes
    study.py      tables that several questions need; answers.py: all questions by name, Parquet out
    advice/       recommended changes of the topology file
    page/         one page for people
    job.py, follow.py   from files to a report, once or as files are closed
    multiply.py   logs of any size, for measuring

Law: a question is a file of pure functions over tables with schemas that `records/schemas.py` makes of
`protocol/records.py`; code that reads and writes is at the edges. Spark computes what grows with the messages, this
process the state of the network.
"""
