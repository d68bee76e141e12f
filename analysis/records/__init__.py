"""Files of records as tables.

files.py      the files of logs                        remote.py      those in a bucket or in Hadoop's file system
reading.py    files to Parquet                         lines.py       lines as records
logs.py       what was read, as tables of `schemas.py` audit_logs.py  the audit logs of routers
by_message.py, pieces.py, rows.py      records of messages, divided by message
increments.py, chapters.py, divided.py what was read before: the store of `--into`
"""
