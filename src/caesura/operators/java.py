"""Classes of Spark's JVM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from py4j.java_gateway import java_import
from pyspark.sql import SparkSession


def import_helper(spark: SparkSession) -> None:
    """The class that PySpark asks for by its short name, for every statement and every list. It would look for it
    in every package that it imports, and Java each time in all jars."""
    java_import(spark._jvm, "org.apache.spark.api.python.PythonUtils")


def java(spark: SparkSession, name: str) -> Any:
    """The class with this full name.

    To look it up part by part, as in `_jvm.java.util.HashMap`, asks for a class `java`, in every package that
    PySpark imports, and for a class `java.util`: there are none, and each time Java looks into all jars.
    """
    return getattr(spark._jvm, name)


def java_object(spark: SparkSession, name: str) -> Any:
    """The Scala object with this full name."""
    return getattr(java(spark, f"{name}$"), "MODULE$")


def each_of(several: Any) -> Iterator[Any]:
    """The elements of a sequence of Scala's."""
    return (several.apply(i) for i in range(several.size()))
