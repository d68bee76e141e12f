"""`tamis reproduce`: figures and tables of the five papers, run again and judged.

    figure.py      what a figure is: settings, a run that gives rows, criteria over the rows, plots of them; what a run
                   is given: cells that are kept, so that an interrupted one goes on
    judging.py     what criteria are made of: slopes, orders, and verdicts with numbers
    timed.py       engines on one table, in turns; shares.py and examples.py: what several papers look at
    measuring.py   which build and machine a cell is of
    running.py     many figures, one after the other, with the time that is left
    outputs.py     CSV, JSON, SVG, PNG and pages in one folder
    drawing.py     plots, with matplotlib
    page.py        a page of one paper, and of all of them
    claims.py      the table of claims in docs/design/papers.md
    papers.py      the figures of all papers, by name
    paper000/ ...  a folder for each paper

Law: a verdict is a function of the rows, and rows of the settings and the seed; a claim that does not hold is a result
like any other. What ends a run is that two ways to compute one thing disagree.
"""
