"""A bounded aggregate over two streams that promise nothing, against Spark's batch over one table.

    python -m bench.synopsis

The query joins two streams by a key with few values and counts and sums per key:

    SELECT s.k, COUNT(*), SUM(t.x), MAX(s.y) FROM s, t WHERE s.k = t.k AND s.k BETWEEN 1 AND 50 GROUP BY s.k

The join has about 10¹² rows. Caesura keeps 50 rows of each stream and never makes them. Spark's batch is given the
same number of rows as one table that is joined already, and computes the same aggregates over it: the least that
anybody has to do for so many rows. Both read parquet; rounds are interleaved and the first, cold, does not count.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from bench.run import BENCH, Table, write_result
from caesura.progress import Progress
from caesura.session import Session
from caesura.spark.session import embedded
from caesura.testing.slices import even_cuts, write_slices

KEYS = 50
QUERY = """
CREATE STREAM s (k INT, y BIGINT) USING parquet LOCATION '{data}/s' OPTIONS (maxFilesPerTrigger 1);
CREATE STREAM t (k INT, x BIGINT) USING parquet LOCATION '{data}/t' OPTIONS (maxFilesPerTrigger 1);
CREATE SINK out USING parquet LOCATION '{out}';
INSERT INTO out SELECT s.k, COUNT(*) AS n, SUM(t.x) AS total, MAX(s.y) AS most
FROM s, t WHERE s.k = t.k AND s.k BETWEEN 1 AND {keys} GROUP BY s.k;
"""
