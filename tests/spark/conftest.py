"""One Spark session for all tests: starting the JVM costs more than most of them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from caesura.spark.session import embedded

# Tests run many small plans once. Compiling them, to Java and then to the best machine code, would take more time
# than it could ever give back.
QUICK_START = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m "
    "-Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN"
)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK_START)
    session = embedded()
    yield session
    session.stop()
