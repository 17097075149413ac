"""The embedded Spark: everything a laptop or a CI machine needs, nothing that listens to the outside."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code
from caesura.operators.java import java
from caesura.signals import postponed
from caesura.spark.reasons import SPARK_ERRORS

_LOOPBACK = "127.0.0.1"
_COMPILED_CLASSES = 4_000
_PAGE = "2m"
_REMEMBERED = 20
_END = 5
"""Seconds."""
_CONF = Path(__file__).parent / "conf"
"""A Spark configuration folder that keeps the logs to errors."""
_COLLECTOR = "-XX:+UseParallelGC"
"""Java's default marks garbage beside the work, on cores that slices need: up to a quarter of their time."""
_OPTIONS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS", "PYSPARK_SUBMIT_ARGS")
"""Variables in which somebody may have chosen another,"""
_CHOICES = ("GC", "@", "-XX:Flags", "VMOptionsFile", "properties-file")
"""there or in a file."""
_SERVICES = ("yarn.", "mapreduce.", "ipc.", "ha.")
"""What names of settings begin with of which a local Spark needs none, but those of committers of files."""
_HADOOP = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "HADOOP_HOME")
"""Variables of somebody who has set up Hadoop."""
_GIVEN = "spark.hadoop."
"""What names of Spark's settings begin with that are Hadoop's."""


def embedded(master: str | None = None, *, ui: bool = False, jars: Sequence[str] = ()) -> SparkSession:
    """The running Spark session, or a new one on all cores of this machine. `jars`: of drivers and connectors."""
    if master is None and (active := SparkSession.getActiveSession()) is not None:
        return active
    _require_java()
    _quieten()
    master = master or "local[*]"
    builder = (
        SparkSession.builder.master(master)
        .appName("caesura")
        .config("spark.ui.enabled", str(ui).lower())
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC")
        # A slice runs the same code as the one before; with the default of 100 classes it would be compiled anew.
        .config("spark.sql.codegen.cache.maxEntries", _COMPILED_CLASSES)
        # Every table that is sent to all tasks takes a page at least. By default that is up to 64 MB, and a slice
        # sends dozens of small ones.
        .config("spark.buffer.pageSize", _PAGE)
    )
    if _may_choose_collector():
        builder = builder.config("spark.driver.defaultJavaOptions", _COLLECTOR)
    if jars:
        # Java looks for drivers of databases only among the classes that it starts with.
        builder = builder.config("spark.driver.extraClassPath", os.pathsep.join(jars))
        builder = builder.config("spark.jars", ",".join(jars))
    if not ui:
        # Spark keeps what its pages would show, pages or not: a thousand plans of slices fill a heap.
        builder = (
            builder.config("spark.sql.ui.retainedExecutions", _REMEMBERED)
            .config("spark.ui.retainedJobs", _REMEMBERED)
            .config("spark.ui.retainedStages", _REMEMBERED)
        )
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
        builder = (
            builder.config("spark.driver.bindAddress", _LOOPBACK)
            .config("spark.driver.host", _LOOPBACK)
            .config("spark.sql.shuffle.partitions", os.cpu_count() or 1)
            .config("spark.driver.memory", os.environ.get("CAESURA_DRIVER_MEMORY", "4g"))
        )
    began = SparkContext._active_spark_context is None
    with postponed():  # a JVM that is left while it starts would stay behind
        SparkContext.getOrCreate(SparkConf().setAll(list(builder._options.items())))
    session = builder.getOrCreate()
    if began and _is_ours() and not any(name in os.environ for name in _HADOOP):
        forget_idle_settings(session)
    return session


def forget_idle_settings(spark: SparkSession) -> None:
    """Defaults of services that a local Spark does not have. Every reader of files copies all settings of Hadoop,
    and sends them to its tasks, each of them with the file that it is from, compressed: two thirds are of these,
    and what reads and writes files asks for none of them, or has the same default itself (decision 0026)."""
    if not str(spark.sparkContext.master).startswith("local"):
        return
    for loads in ("mapred.JobConf", "hdfs.HdfsConfiguration"):  # which, were they later, would load all once more
        java(spark, f"org.apache.hadoop.{loads}")()
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    given = {name.removeprefix(_GIVEN) for name, _ in spark.sparkContext.getConf().getAll()}
    for service in _SERVICES:
        names = java(spark, "java.lang.String").join("\n", settings.getPropsWithPrefix(service).keySet())
        for name in (f"{service}{rest}" for rest in names.split("\n")):
            if "committer" not in name and name not in given:
                settings.unset(name)


@contextmanager
def running(master: str | None = None, *, ui: bool = False, jars: Sequence[str] = ()) -> Iterator[SparkSession]:
    """The embedded Spark, which ends with the context if it began there."""
    own = SparkContext._active_spark_context is None
    try:
        yield embedded(master, ui=ui, jars=jars)
    finally:
        if own:
            _shut_down()


def _shut_down() -> None:
    """And wait until its process is gone."""
    gateway: Any = SparkContext._gateway
    context = SparkContext._active_spark_context
    if context is not None:
        with suppress(*SPARK_ERRORS):  # whoever stops a group of processes may have ended it
            context.stop()
    process = getattr(gateway, "proc", None)
    if process is not None:
        gateway.shutdown()
        process.stdin.close()
        with suppress(TimeoutExpired):
            process.wait(_END)


def _quieten() -> None:
    """Whoever has a Spark of their own has its logging set up; the one from PyPI comes without a configuration."""
    if "SPARK_HOME" not in os.environ:
        os.environ.setdefault("SPARK_CONF_DIR", str(_CONF))
    logging.getLogger("py4j.clientserver").setLevel(logging.CRITICAL)  # a slice that fails has a diagnostic


def _is_ours() -> bool:
    """Whether nobody has set up a Spark."""
    return os.environ.get("SPARK_CONF_DIR") == str(_CONF)


def _may_choose_collector() -> bool:
    """Java does not start with two: a Spark that is set up by somebody, or Java's own variables, may name one."""
    return _is_ours() and not any(choice in os.environ.get(name, "") for name in _OPTIONS for choice in _CHOICES)


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and os.path.exists(os.path.join(home, "bin", "java"))):
        raise CaesuraError(
            Diagnostic(
                Code.NO_JAVA,
                "Spark needs Java 17 or newer, and there is none",
                because=("`java` is not on the PATH and JAVA_HOME names no Java",),
                help=("on Debian or Ubuntu: apt-get install openjdk-17-jre-headless",),
            )
        )
