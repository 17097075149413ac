"""How the plan of a statement is executed: everywhere or, if it reads little, in one place.

In one place one task reads all tables, one after the other. Spark then sees that rows which belong together are
together, and neither shuffles them nor, to find equal values, sends them to all tasks: a statement is one job of
one stage. Of very little it takes longer to write the code of a plan than to go without (decision 0028).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from pyspark import RDD
from pyspark.sql import SparkSession

from caesura.operators.java import each_of, java, java_object

_IN_PLACE = {"spark.sql.shuffle.partitions": "1", "spark.sql.autoBroadcastJoinThreshold": "-1"}
_INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
_MIB = 1024 * 1024
_LITTLE: tuple[tuple[int, Mapping[str, str]], ...] = (
    (1 * _MIB, _IN_PLACE | _INTERPRETED),
    (16 * _MIB, _IN_PLACE),
)
"""Bytes that are read at most, and the settings by which that is done in one place."""


@dataclass(frozen=True)
class Way:
    """The session whose settings hold, and whether all is in one place."""

    spark: SparkSession
    in_place: bool


class Places:
    """The sessions of an application for what is done in one place. They are like the sessions that ask for them,
    which differ in their time zone alone."""

    def __init__(self) -> None:
        self._ways: dict[tuple[int, str | None], Way] = {}
        self._making = Lock()

    def by(self, most: int, spark: SparkSession) -> Way:
        with self._making:
            key = most, spark.conf.get("spark.sql.session.timeZone")
            if key not in self._ways:
                self._ways[key] = Way(_like(spark, dict(_LITTLE)[most]), in_place=True)
            return self._ways[key]


def _like(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """A session with some other settings. PySpark makes the last one that of `RDD.toDF`, which is the user's."""
    to_frame = getattr(RDD, "toDF", None)
    session = type(spark)(spark.sparkContext, spark._jsparkSession.cloneSession())
    if to_frame is not None:
        RDD.toDF = to_frame  # type: ignore[method-assign]
    for name, value in settings.items():
        session.conf.set(name, value)
    return session


class Ways:
    """Of one session."""

    def __init__(self, spark: SparkSession, places: Places) -> None:
        self.gathering = True
        """Whether little may be in one place."""
        self._everywhere = Way(spark, in_place=False)
        self._places = places
        self._little: dict[int, Way] = {}
        self._session: Any = spark._jsparkSession
        self._sessions = java(spark, "org.apache.spark.sql.classic.SparkSession")
        self._planning = java_object(spark, "org.apache.spark.sql.execution.QueryExecution")
        self._coalesced = java(spark, "org.apache.spark.sql.execution.CoalesceExec")
        self._scala = java(spark, "org.apache.spark.api.python.PythonUtils")
        self._maps = java(spark, "java.util.HashMap")
        self._nothing = java(spark, "scala.Option").empty()

    def by(self, size: int) -> Way:
        """Of a statement that reads so many bytes."""
        most = next((most for most, _ in _LITTLE if size <= most), None)
        if most is None or not self.gathering:
            return self._everywhere
        if most not in self._little:
            self._little[most] = self._places.by(most, self._everywhere.spark)
        return self._little[most]

    def begin(self) -> None:
        """Spark reads, plans and executes statements by the session that is active in the thread."""
        self._sessions.setActiveSession(self._session)

    def rows(self, plan: Any, way: Way) -> Any:
        """What an optimised plan gives, as an RDD."""
        session: Any = way.spark._jsparkSession
        self._sessions.setActiveSession(session)
        try:
            chosen = self._planning.createSparkPlan(session.sessionState().planner(), plan)
            steps = self._planning.preparations(session, self._nothing, False)
            gathered = self._gathered(chosen) if way.in_place else chosen
            return self._planning.prepareForExecution(steps, gathered).execute()
        finally:
            self.begin()

    def _gathered(self, chosen: Any) -> Any:
        """With each leaf in one place, so that all that is done with them is done there."""
        gathered = self._maps()
        for leaf in each_of(chosen.collectLeaves()):
            gathered.put(leaf, self._coalesced(1, leaf))
        return chosen.transformUp(self._scala.toScalaMap(gathered))
