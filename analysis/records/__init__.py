"""Files of records as Spark's tables.

files.py, reading.py, logs.py   which files there are, and their lines as typed records of `schemas.py`
parts.py                        in how many partitions records are divided
java.py, session.py             a Java runtime, and Spark in it; `failure.py`: why it failed
class_archive.py                Spark's classes as an earlier analysis left them, for a quicker start
"""
