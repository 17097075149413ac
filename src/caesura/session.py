"""The Python way in: streams on DataFrames, SQL over them, and a handle for what runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from caesura.catalog import (
    PUNCTUATION_COLUMN,
    Catalog,
    Column,
    Constraint,
    Interval,
    OrderedBy,
    Origin,
    PunctuatedBy,
    Stream,
    Table,
    Unique,
)
from caesura.diagnostics import CaesuraError, Diagnostic, Source
from caesura.diagnostics.code import Code
from caesura.plan import Pipeline
from caesura.planning.statistics import Statistics
from caesura.planning.statistics_json import read_statistics
from caesura.progress import Progress
from caesura.safety.diagnose import diagnose
from caesura.safety.verdict import Verdict, check_all
from caesura.sql.bind import bind
from caesura.sql.datatypes import read_type
from caesura.sql.intervals import fixed_length
from caesura.sql.source import read_source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from caesura.spark.query import ContinuousQuery

Key = str | Sequence[str]
"""One column, or several that go together."""


class Session:
    """A catalog of streams and tables, and the Spark session to run queries over them."""

    def __init__(self, spark: SparkSession | None = None) -> None:
        self._spark = spark
        self._catalog = Catalog()
        self._frames: dict[str, DataFrame] = {}

    @property
    def spark(self) -> SparkSession:
        """The session given, the one that runs already, or an embedded one started now."""
        if self._spark is None:
            from caesura.spark.session import embedded

            self._spark = embedded()
        return self._spark

    def stream(
        self,
        name: str,
        frame: DataFrame,
        *,
        punctuated_by: Sequence[Key] = (),
        unique: Sequence[Key] = (),
        ordered_by: str | None = None,
        within: str | None = None,
        idle_after: str | None = None,
        punctuation: str = PUNCTUATION_COLUMN,
    ) -> None:
        """Declare a streaming DataFrame as a stream, with what is promised about it.

        `punctuated_by=["auction"]` is PUNCTUATED BY (auction); a tuple in the list is a scheme of several columns.
        `unique` likewise. `ordered_by="at", within="5 seconds"` is ORDERED BY (at WITHIN INTERVAL 5 SECONDS), and
        `idle_after` is its IDLE AFTER.
        The punctuation column, if the DataFrame has one, is not a column of the stream.
        """
        if not frame.isStreaming:
            raise CaesuraError(
                Diagnostic(
                    Code.SOURCE,
                    f"the DataFrame for `{name}` is not a streaming one",
                    help=("read it with spark.readStream, or declare it with Session.table",),
                )
            )
        columns = tuple(c for c in _columns(frame) if c.name != punctuation)
        constraints: list[Constraint] = [PunctuatedBy(_key(each, columns)) for each in _keys(punctuated_by)]
        constraints += [Unique(_key(each, columns)) for each in _keys(unique)]
        given = {"within": within, "idle_after": idle_after}
        if ordered_by is not None:
            (column,) = _key(ordered_by, columns)
            slack, idle = (_length(each, column, columns) for each in given.items())
            constraints.append(OrderedBy(column, slack, idle))
        elif any(given.values()):
            raise _refused(f"`{next(name for name, length in given.items() if length)}` needs `ordered_by`")
        for constraint in constraints:
            _require_columns(name, columns, constraint)
        self._declare(Stream(name, columns, tuple(constraints), punctuation_column=punctuation), frame)

    def table(self, name: str, frame: DataFrame) -> None:
        """Declare a DataFrame as a table: finite, and read once."""
        if frame.isStreaming:
            raise CaesuraError(
                Diagnostic(
                    Code.SOURCE,
                    f"the DataFrame for `{name}` is a streaming one",
                    help=("read it with spark.read, or declare it with Session.stream",),
                )
            )
        self._declare(Table(name, _columns(frame)), frame)

    def sql(self, text: str) -> Prepared:
        """Bind SQL over the session's streams and tables; `CREATE STREAM … USING …` in the text works too."""
        return self._prepared(Source("<sql>", text), folder=None)

    def file(self, path: str | Path) -> Prepared:
        """Bind a file; relative locations in it are relative to its folder."""
        return self._prepared(read_source(str(path)), folder=str(Path(path).parent))

    def _prepared(self, source: Source, folder: str | None) -> Prepared:
        return Prepared(self, bind(source, self._catalog), folder, dict(self._frames))

    def _declare(self, relation: Stream | Table, frame: DataFrame) -> None:
        if relation.name in self._catalog:
            message = f"`{relation.name}` is declared already"
            raise CaesuraError(Diagnostic(Code.DUPLICATE_NAME, message))
        self._catalog = self._catalog.add(relation)
        self._frames[relation.name] = frame


@dataclass(frozen=True)
class Prepared:
    """Bound queries that can be checked and started."""

    session: Session
    pipeline: Pipeline
    folder: str | None
    frames: Mapping[str, DataFrame]

    def check(self) -> tuple[Verdict, ...]:
        """Whether the state of each query stays bounded, with the proof or the reason. Starts no JVM."""
        return self._verdicts

    def start(
        self,
        path: str | None = None,
        format: str | None = None,
        *,
        checkpoint: str | None = None,
        until_end: bool = False,
        allow_unbounded: bool = False,
        interval: str | None = None,
        eager_rows: int | None = None,
        every_order: bool = False,
        fewest_schemes: bool = False,
        every_rule: bool = False,
        take_over: bool = False,
        add_queries: bool = False,
        max_quarantined: float = 1.0,
        keep_quarantined: int = 1_000,
        statistics: str | Path | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        **options: str,
    ) -> ContinuousQuery:
        """Run every INSERT and SELECT, if their state is proven bounded.

        `format`, `path` and `options` say where the rows of a SELECT go: by default they are printed; `memory`
        makes them a view with the query's name. `until_end` stops when the inputs are exhausted and takes that as
        the end of the streams; `interval` is the time between slices. `allow_unbounded` starts a query whose state
        may grow for ever; each progress says so. States of up to `eager_rows`, 100,000 unless given, are purged at
        every slice, larger ones when as much has come as they hold. `every_order` lets rows of joins in which
        inputs are connected in a circle go sooner, for more work per slice; `fewest_schemes` lets them go by as
        few kinds of punctuations as can be, for less. `every_rule` counts what lets go of the rows of joins
        (`Progress.released`) and the open values of their columns (`Progress.statistics`), which takes time.
        `statistics` is a file that an earlier run has written, to choose join plans by. A checkpoint that exists
        keeps its own plans and schemes. Only one run may write to a checkpoint or a sink of files; `take_over`
        takes them from one that is gone. `add_queries` lets queries that the checkpoint does not have begin with
        its next slice; they read streams that others read. A slice fails in which more than `max_quarantined` of
        what a stream brings, such as 0.1, is set aside; the checkpoint keeps what the last `keep_quarantined`
        slices have set aside, of those that did.
        """
        from caesura.spark.purge import PurgePolicy
        from caesura.spark.run import Settings, start
        from caesura.terminal import print_rows

        if interval is not None and fixed_length(interval) is None:
            raise _refused(f"`interval` is a length of time such as '10 seconds', not '{interval}'")
        if not 0 <= max_quarantined <= 1:
            raise _refused(f"`max_quarantined` is a ratio from 0 to 1, not {max_quarantined}")
        if keep_quarantined < 1:
            raise _refused(f"`keep_quarantined` is a number of slices from 1 on, not {keep_quarantined}")
        if eager_rows is not None and eager_rows < 0:
            raise _refused(f"`eager_rows` is a number of rows, not {eager_rows}")
        if not allow_unbounded:
            self.require_safe()
        selects = Origin(format or ("console" if path is None else "parquet"), path, tuple(options.items()))
        kept = PurgePolicy(keep_quarantined=keep_quarantined)
        settings = Settings(
            folder=self.folder,
            checkpoint=checkpoint,
            until_end=until_end,
            interval=interval,
            frames=self.frames,
            selects=selects,
            show=print_rows,
            report=on_progress or (lambda progress: None),
            unbounded=self.unbounded,
            purge=kept if eager_rows is None else replace(kept, eager_rows=eager_rows),
            every_order=every_order,
            fewest_schemes=fewest_schemes,
            every_rule=every_rule,
            statistics=self.read_statistics(statistics),
            take_over=take_over,
            add_queries=add_queries,
            max_quarantined=max_quarantined,
        )
        return start(self.session.spark, self.pipeline, settings)

    def rehearse(self, *, statistics: str | Path | None = None) -> list[Progress]:
        """Run to the end of the inputs, deliver nothing, and count what lets go of the rows of joins."""
        from caesura.spark.run import Settings, start

        slices: list[Progress] = []
        self.require_safe()
        settings = Settings(
            folder=self.folder,
            until_end=True,
            frames=self.frames,
            report=slices.append,
            deliver=False,
            every_rule=True,
            statistics=self.read_statistics(statistics),
        )
        start(self.session.spark, self.pipeline, settings).awaitTermination()
        return slices

    def read_statistics(self, file: str | Path | None) -> Statistics:
        """What a file knows of the streams that are read; nothing, without a file."""
        return read_statistics(file, (query.plan for query in self.pipeline.queries))

    @cached_property
    def _verdicts(self) -> tuple[Verdict, ...]:
        return check_all(self.pipeline.queries)

    @property
    def unbounded(self) -> tuple[str, ...]:
        """The states without a proof, named as in `caesura check`."""
        states = (state for verdict in self.check() for state in verdict.states if not state.bounded)
        return tuple(dict.fromkeys(f"{state.operator} `{state.input}`" for state in states))

    def require_safe(self) -> None:
        """Raise what `caesura check` reports, if some state would grow without bound."""
        unsafe = [verdict for verdict in self.check() if not verdict.safe]
        if unsafe:
            raise CaesuraError(*(each for verdict in unsafe for each in diagnose(verdict)))


def _keys(keys: Sequence[Key]) -> Sequence[Key]:
    """`punctuated_by="id"` is one key, not a key for each letter."""
    return (keys,) if isinstance(keys, str) else keys


def _key(key: Key, columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The columns in their declared spelling; one that is not there stays, to be refused by its name."""
    spelling = {column.name.lower(): column.name for column in columns}
    names = (key,) if isinstance(key, str) else tuple(key)
    return tuple(spelling.get(name.lower(), name) for name in names)


def _length(given: tuple[str, str | None], column: str, columns: tuple[Column, ...]) -> Interval | None:
    name, text = given
    if text is None:
        return None
    if not all(each.type.temporal for each in columns if each.name == column):
        raise _refused(f"`{name}` needs a column of dates or times, and `{column}` is none")
    length = fixed_length(text)
    if length is None:
        raise _refused(f"`{name}` is a length of time such as '5 seconds', not '{text}'")
    return length


def _refused(message: str) -> CaesuraError:
    return CaesuraError(Diagnostic(Code.ARGUMENT, message))


def _columns(frame: DataFrame) -> tuple[Column, ...]:
    return tuple(Column(field.name, read_type(field.dataType.simpleString())) for field in frame.schema.fields)


def _require_columns(name: str, columns: tuple[Column, ...], constraint: Constraint) -> None:
    named = getattr(constraint, "columns", ())
    known = [column.name for column in columns]
    for each in named:
        if each not in known:
            raise CaesuraError(
                Diagnostic(
                    Code.CONSTRAINT_COLUMN,
                    f"`{name}` has no column `{each}`",
                    because=(f"its columns are {', '.join(known)}",),
                )
            )
