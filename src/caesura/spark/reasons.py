"""What Spark fails with, as one sentence."""

from __future__ import annotations

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

SPARK_ERRORS = (PySparkException, Py4JError)
"""Not every error of the JVM is one that PySpark has a class for."""


def reason(error: Exception) -> str:
    """The first line of what went wrong; of a chain of causes in the JVM, the last that says anything."""
    if not isinstance(error, Py4JJavaError):
        return str(error).strip().split("\n")[0]
    found, cause = "", error.java_exception
    while cause is not None:
        message = str(cause.getMessage() or "").strip().split("\n")[0]
        found = message or found
        cause = cause.getCause()
    return found or str(error.java_exception.getClass().getSimpleName())
