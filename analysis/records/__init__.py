"""Files of records as Spark's tables.

files.py, reading.py, logs.py   the files, and their records as tables with the columns of `schemas.py`
lines.py                        lines as records
remote.py                       files in a bucket or in Hadoop's file system
parts.py                        the number of partitions of records
java.py, session.py             a Java runtime, and Spark in it; `failure.py`: why it failed
cluster.py                      Spark on other machines, and the package that its workers run
class_archive.py                Spark's classes from an earlier analysis, for a quicker start
"""
