"""The five papers: models of what they describe, and their figures, run again and judged. `docs/design/papers.md` says
which engine, strategy and figure came from which paper.

    models/       the structures of the papers to the letter, slow and small: twins of the engines in C
    measures/     what some figures measure, each a command by itself
    reproduce/    figures and tables, with claims and verdicts: `tamis reproduce`

Law: nothing of the product imports this but the command line. The papers' engines are registered with all others
(`native/engines/`), their strategies in `router/core/strategies/registry.py`.
"""
