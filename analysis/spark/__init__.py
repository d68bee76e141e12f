"""Spark, here or on other machines.

java.py, session.py   a Java runtime, and Spark in it; `failure.py`: why it failed
class_archive.py      Spark's classes from an earlier analysis, for a quicker start
cluster.py            Spark on other machines, and the package that its workers run
parts.py              the number of partitions of records, and tables of few rows
"""
