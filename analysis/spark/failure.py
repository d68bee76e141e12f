"""The reason for a failure of Spark, in a sentence.

Law: a cause that the user can remove (a disk, memory, an absent master) is reported in the words of the innermost cause
that has any; a bug of this program keeps its traceback.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.java_gateway import JavaObject, is_instance_of
from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors.exceptions.captured import CapturedException

MEMORY: Final = "TAMIS_SPARK_MEMORY=8g gives Spark more than 2 GB"
MENDED: Final = {
    "java.io.IOException": "spilled data goes to SPARK_LOCAL_DIRS or /tmp, records beside the answers",
    "java.lang.OutOfMemoryError": MEMORY,
}
"""By Java class: the sentence for it and its subclasses."""
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of the system's errors for a full disk."""


class SparkFailed(Exception):
    """Raised when Spark failed for a reason that its user can remove."""


@contextmanager
def explained() -> Iterator[None]:
    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise SparkFailed(f"Spark's process has ended; if memory was short: {MEMORY}") from error
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise SparkFailed(f"{os.strerror(error.errno)} ({MENDED['java.io.IOException']})") from error
    except (Py4JJavaError, CapturedException) as error:
        thrown = error.java_exception if isinstance(error, Py4JJavaError) else error._origin
        sentence = _sentence(list(_causes(thrown))) or _stopped()
        if sentence is None:
            raise
        raise SparkFailed(sentence) from error


def _causes(thrown: JavaObject) -> Iterator[JavaObject]:
    """Yield the causes of `thrown`, from the outermost to the innermost."""
    while thrown is not None:
        yield thrown
        thrown = thrown.getCause()


def _sentence(causes: list[JavaObject]) -> str | None:
    for cause in reversed(causes):
        words = cause.getMessage()
        for name, mended in MENDED.items():
            if words and is_instance_of(SparkContext._gateway, cause, name):
                return f"Spark: {words.splitlines()[0]} ({mended})"
    return None


def _stopped() -> str | None:
    """Return a sentence if Spark has stopped by itself, as it does when a thread of its own runs out of memory: what
    fails then has another cause."""
    context = SparkContext._active_spark_context
    is_stopped = context is not None and context._jsc is not None and context._jsc.sc().isStopped()
    return f"Spark has stopped by itself; if memory was short: {MEMORY}" if is_stopped else None
