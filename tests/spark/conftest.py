"""One Spark session for all tests: starting the JVM costs more than most of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from caesura.spark.session import embedded


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = embedded()
    yield session
    session.stop()
