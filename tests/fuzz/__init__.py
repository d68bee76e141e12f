"""Fuzz targets, one module each: `SEEDS` and `target(data)`, which lets through only what is not documented.

    python -m tests.fuzz predicate --minutes 20       coverage-guided (atheris), prints executions and coverage
    make fuzz MINUTES=20                              all of them, one after the other

What a run found worth keeping is in corpus/NAME.b64, one input a line; `make test` replays it.
"""
