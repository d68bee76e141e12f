"""Files of records as Spark's tables.

files.py, reading.py, logs.py   the files, and their lines as typed records of `schemas.py`
parts.py                        the number of partitions of records
java.py, session.py             a Java runtime, and Spark in it; `failure.py`: why it failed
class_archive.py                Spark's classes from an earlier analysis, for a quicker start
"""
