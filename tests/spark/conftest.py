"""One Spark session for all tests: starting the JVM costs more than most of them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from caesura.spark.session import embedded
from tests.spark.postgres import DRIVER

# Tests run many small plans once. Compiling them, to Java and then to the best machine code, would take more time
# than it could ever give back. Nor is there a core to collect garbage beside them: it lies in a heap that is large
# from the start, as is the room for classes. To make more of either, Java would collect everything first.
QUICK_START = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m "
    "-XX:+UseSerialGC -Xms3g -Xmn1500m -XX:MetaspaceSize=512m "
    "-Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN"
)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK_START)
    session = embedded(jars=[str(DRIVER)] if DRIVER.exists() else [])
    # Tasks are told so by each job; those of jobs that Spark begins while it plans are told by nobody else.
    session.sparkContext.setLocalProperty("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield session
    session.stop()
