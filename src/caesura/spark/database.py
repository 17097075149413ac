"""A database behind JDBC: statements in one transaction, over connections that Spark makes, with its drivers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from caesura.operators.java import java
from caesura.spark.reasons import SPARK_ERRORS


@dataclass(frozen=True)
class Transaction:
    connection: Any
    gateway: Any

    def execute(self, statement: str, *values: str | int) -> int:
        """How many rows it changed."""
        with self._prepared(statement, *values) as prepared:
            return int(prepared.executeUpdate())

    def number(self, statement: str, *values: str | int) -> int | None:
        """The one number that is asked for; None without a row."""
        with self._prepared(statement, *values) as prepared:
            found = prepared.executeQuery()
            return int(found.getLong(1)) if found.next() else None

    def columns(self, table: str) -> tuple[str, ...]:
        with self._prepared(f"SELECT * FROM {table} WHERE 1 = 0") as prepared:
            of = prepared.executeQuery().getMetaData()
            return tuple(str(of.getColumnName(each + 1)) for each in range(of.getColumnCount()))

    def tables(self, start: str) -> tuple[str, ...]:
        """Those whose names begin so, be it in small or in capital letters, as databases keep them."""
        about, names = self.connection.getMetaData(), list[str]()
        kinds = self.gateway.new_array(self.gateway.jvm.java.lang.String, 1)
        kinds[0] = "TABLE"
        pattern = start.upper() if about.storesUpperCaseIdentifiers() else start
        found = about.getTables(self.connection.getCatalog(), None, f"{pattern}%", kinds)
        while found.next():
            names.append(str(found.getString("TABLE_NAME")).lower())
        return tuple(name for name in names if name.startswith(start))  # an underscore may stand for any letter

    @contextmanager
    def _prepared(self, statement: str, *values: str | int) -> Iterator[Any]:
        prepared = self.connection.prepareStatement(statement)
        try:
            for place, value in enumerate(values, 1):
                prepared.setString(place, value) if isinstance(value, str) else prepared.setLong(place, value)
            yield prepared
        finally:
            prepared.close()


@dataclass(frozen=True)
class Database:
    spark: SparkSession
    options: Mapping[str, str]
    """As Spark's own JDBC source takes them, without the table."""

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """All of it happens, or nothing."""
        connection = self.connect()
        try:
            connection.setAutoCommit(False)
            try:
                yield Transaction(connection, self.spark.sparkContext._gateway)
                connection.commit()
            except BaseException:
                with suppress(*SPARK_ERRORS):  # of a connection that is gone, which is why
                    connection.rollback()
                raise
        finally:
            connection.close()

    def connect(self) -> Any:
        given = {**self.options, "dbtable": "caesura"}  # Spark asks for one, whatever it is needed for
        options = java(self.spark, "org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions")(
            java(self.spark, "org.apache.spark.api.python.PythonUtils").toScalaMap(given)
        )
        return self._dialect.createConnectionFactory(options).apply(-1)

    def quoted(self, name: str) -> str:
        return str(self._dialect.quoteIdentifier(name))

    @property
    def _dialect(self) -> Any:
        return java(self.spark, "org.apache.spark.sql.jdbc.JdbcDialects").get(self.options["url"])
