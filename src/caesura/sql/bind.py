"""A file to a pipeline. Every statement is tried, so one call reports all that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from sqlglot import exp

from caesura.catalog import Catalog, Relation, Sink, Stream, Table
from caesura.diagnostics import CaesuraError, Diagnostic, Label, Source, Span
from caesura.diagnostics.code import Code
from caesura.plan import Pipeline, Query
from caesura.sql.declare import declare_sink, declare_stream, declare_table
from caesura.sql.parse import Statement, parse
from caesura.sql.parts import merged
from caesura.sql.ranking import limited
from caesura.sql.refusal import listing, nearest, refusal
from caesura.sql.relations import Broken, Derived, Meaning, Scope
from caesura.sql.select import bind_query, declare_query, with_tables
from caesura.sql.spans import span
from caesura.sql.syntax import Declaration
from caesura.sql.unsupported import refuse_insert, refuse_statement

_NOTHING = Catalog()


def bind(source: Source, catalog: Catalog = _NOTHING, sinks: tuple[Sink, ...] = ()) -> Pipeline:
    """`catalog` and `sinks` were declared from Python; the file's declarations are added to them.

    Streams, tables and sinks may be declared anywhere in the file, views and derived streams before they are
    read. A query is called after its sink or derived stream; a second INSERT into `winners` is `winners_2`.
    """
    statements = parse(source)
    binding = _Binding(source, catalog, {sink.name.lower(): sink for sink in sinks})
    binding.meanings.update((relation.name.lower(), relation) for relation in catalog.relations)
    declarations, queries = binding.claim(statements)
    # COMPLETE BY needs the tables, so they come first; queries need everything.
    for kinds in (("TABLE", "SINK"), ("STREAM",)):
        binding.each(binding.declare, (one for one in declarations if one.tree.args["kind"] in kinds))
    binding.each(binding.query, queries)
    if binding.diagnostics:
        raise CaesuraError(*sorted(binding.diagnostics, key=_place))
    return Pipeline(source, binding.catalog, tuple(binding.queries))


def _place(diagnostic: Diagnostic) -> int:
    return diagnostic.labels[0].span.start if diagnostic.labels else 0


@dataclass
class _Binding:
    """What is known while the statements are gone through."""

    source: Source
    catalog: Catalog
    sinks: dict[str, Sink | Broken]
    meanings: dict[str, Meaning] = field(default_factory=dict)
    later: dict[str, Span] = field(default_factory=dict)
    queries: list[Query] = field(default_factory=list)
    selects: int = 0
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def each(self, step: Callable[[Statement], None], statements: Iterable[Statement]) -> None:
        for statement in statements:
            try:
                step(statement)
            except CaesuraError as error:
                self.diagnostics.extend(error.diagnostics)
                self._break(statement)
            except RecursionError:
                deep = refusal(Code.TOO_DEEP, "the statement is nested too deeply", statement.span)
                self.diagnostics.extend(deep.diagnostics)
                self._break(statement)

    def _break(self, statement: Statement) -> None:
        """Nothing that reads the name shall be refused for it once more."""
        tree = statement.tree
        if isinstance(tree, Declaration):
            broken = Broken(tree.name)
            if tree.args["kind"] == "SINK":
                self.sinks[tree.name.lower()] = broken
            else:
                self.meanings[tree.name.lower()] = broken

    def claim(self, statements: Iterable[Statement]) -> tuple[list[Statement], list[Statement]]:
        """Declarations of streams, tables and sinks, and the rest. A name belongs to its first declaration."""
        declarations: list[Statement] = []
        queries: list[Statement] = []
        owners: dict[str, Span | None] = dict.fromkeys([*self.meanings, *self.sinks])
        for statement in statements:
            tree = statement.tree
            if not isinstance(tree, Declaration):
                queries.append(statement)
                continue
            name, at = tree.name.lower(), span(tree.this, self.source)
            if name in owners:
                self.diagnostics.extend(_twice(tree.name, at, owners[name]).diagnostics)
                continue
            owners[name] = at
            if tree.expression is None and tree.args["kind"] != "VIEW":
                declarations.append(statement)
                continue
            queries.append(statement)
            if at is not None:
                self.later[name] = at
        return declarations, queries

    def declare(self, statement: Statement) -> None:
        tree = statement.tree
        assert isinstance(tree, Declaration)
        match tree.args["kind"]:
            case "SINK":
                self.sinks[tree.name.lower()] = declare_sink(tree, self.source)
            case "TABLE":
                self._add(declare_table(tree, self.source))
            case _:
                known = {name: one for name, one in self.meanings.items() if isinstance(one, Stream | Table)}
                parts = declare_stream(tree, self.source, known)
                for part in parts:
                    self._add(part)
                if len(parts) > 1:
                    self.meanings[tree.name.lower()] = Derived(tree.name, merged(parts, statement.span))

    def _add(self, relation: Relation) -> None:
        self.catalog = self.catalog.add(relation)
        self.meanings[relation.name.lower()] = relation

    def query(self, statement: Statement) -> None:
        tree = statement.tree
        scope = Scope(self.source, self.meanings, self.later)
        match tree:
            case Declaration():
                self.later.pop(tree.name.lower(), None)
                derived = declare_query(tree, scope)
                self.meanings[derived.name.lower()] = derived
                if tree.args["kind"] == "STREAM":
                    self._ask(Query(derived.name, derived.plan, "stream", None, statement.span))
            case exp.Insert():
                refuse_insert(tree, self.source)
                sink = self._sink(tree.this)
                plan = bind_query(tree.expression, with_tables(tree, scope))
                self._ask(Query(sink.name, plan, "insert", sink, statement.span))
            case exp.Query() | exp.Values():
                self.selects += 1
                plan = bind_query(tree, scope)
                self._ask(Query(f"select_{self.selects}", plan, "select", None, statement.span))
            case _:
                refuse_statement(statement.span)

    def _ask(self, query: Query) -> None:
        taken = {one.name.lower() for one in self.queries}
        name = next(name for name in _numbered(query.name) if name.lower() not in taken)
        self.queries.append(replace(query, name=name, plan=limited(query.plan)))

    def _sink(self, target: exp.Expr) -> Sink:
        sink = self.sinks.get(target.name.lower())
        if isinstance(sink, Sink):
            return sink
        if isinstance(sink, Broken):
            raise CaesuraError
        known = [one.name for one in self.sinks.values()]
        because = f"the sinks are {listing(known)}" if known else "no sink is declared"
        at = span(target, self.source)
        if target.name.lower() in self.meanings:
            raise refusal(Code.UNKNOWN_SINK, f"`{target.name}` is not a sink", at, because=because)
        close = nearest(target.name, known)
        raise refusal(
            Code.UNKNOWN_SINK,
            f"unknown sink `{target.name}`",
            at,
            because=because,
            help=f"did you mean `{close}`?" if close else f"CREATE SINK {target.name} USING … LOCATION '…'",
        )


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{n}" for n in count(2))


def _twice(name: str, at: Span | None, first: Span | None) -> CaesuraError:
    return refusal(
        Code.DUPLICATE_NAME,
        f"`{name}` is declared twice",
        at,
        also=[Label(first, "the first")] if first else [],
        because="streams, tables, sinks and views share their names, in any case of letters",
    )
