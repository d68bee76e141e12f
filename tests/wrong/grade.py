"""What can be judged of an answer without reading it.

Law: an answer that fails here is bad; one that passes may be bad still, and is to be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.wrong.case import Answer, Case

CHARACTERS_MAX: Final = 600
"""Of one answer: a sentence, and perhaps the keys or values that there are."""
LINES_MAX: Final = 5
"""A sentence, the place with its caret, and a hint."""
_NEVER: Final = ("Traceback", "pydantic", "<class", "Errno", "object at 0x", "AssertionError")


def faults(case: Case, answer: Answer) -> Iterator[str]:
    """Yield what is wrong with an answer."""
    if answer.code is None:
        yield "no answer came in time"
        return
    if answer.code == 0:
        yield "it was taken"
        return
    said = answer.err if answer.err.strip() else answer.out
    if not 0 < answer.code < 3 and answer.code != 130:
        yield f"the exit code is {answer.code}"
    yield from (f"it says {word}" for word in _NEVER if word in said)
    if not said.strip():
        yield "it says nothing"
    if len(said) > CHARACTERS_MAX:
        yield f"it has {len(said)} characters"
    if len(said.strip().splitlines()) > LINES_MAX:
        yield f"it has {len(said.strip().splitlines())} lines"
    if not any(name in said for name in case.where):
        yield f"it does not say where: one of {case.where}"
    if case.allowed and not any(word in said for word in case.allowed):
        yield f"it does not say what is allowed: one of {case.allowed}"
