"""Tamis beside the daemons that others route messages with, driven by one load generator, in one run.

    python -m tamis.bench.router.brokers [--only NAME,...] [--measure NAME,...] [--rounds 3] [--seconds 2] [--json]

measures   what is asked, of whom            figures  the columns
inputs     messages and filters, as files    daemons  how each daemon is started
process    starting, stopping, leaving nothing behind
run        rounds in turns, medians          report   tables for people, one JSON object a line for programs
build      compiles load/ and forward.c on first use

`python -m tamis.bench.durable` compares those that store messages with the same run, process, report and load.

Law: every round of every figure is taken from a daemon that was started for it; the brokers take turns, because a
shared machine drifts by more than daemons differ. What is sent is the same bytes for all of them: a Tamis frame.
"""
