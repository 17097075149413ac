"""CREATE STREAM, TABLE and SINK to values of the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlglot import exp

from caesura.catalog import (
    PUNCTUATION_COLUMN,
    UNITS,
    Check,
    ClosedBy,
    ClusteredBy,
    Column,
    CompleteBy,
    Constraint,
    Interval,
    OrderedBy,
    Origin,
    PunctuatedBy,
    Relation,
    Sink,
    Stream,
    Table,
    Unique,
)
from caesura.diagnostics import Label, Source, Span
from caesura.diagnostics.code import Code
from caesura.expression import Expr
from caesura.sql import syntax
from caesura.sql.datatypes import to_type
from caesura.sql.expressions import scalar, typed
from caesura.sql.functions import ordered
from caesura.sql.intervals import fixed_length, interval
from caesura.sql.names import Named, Reach
from caesura.sql.refusal import listing, nearest, refusal
from caesura.sql.spans import span
from caesura.sql.traffic import TRAFFIC, declare_traffic

# Caesura's own options besides those of traffic: the column that carries punctuations, and how old rows may become
# before joins give them up.
PUNCTUATION, RELEASE = "punctuation", "release"


def declare_sink(node: syntax.Declaration, source: Source) -> Sink:
    _refuse_locations(node, source)
    _refuse_violation(node, source)
    options = _options(node, source)
    _refuse_own_options(options, source)
    return Sink(node.name, _origin(node, source, options), span(node, source))


def declare_table(node: syntax.Declaration, source: Source) -> Table:
    _refuse_locations(node, source)
    _refuse_constraints(node, source)
    _refuse_violation(node, source)
    options = _options(node, source)
    _refuse_own_options(options, source)
    return Table(node.name, _columns(node, source), _origin(node, source, options), span(node, source))


def declare_stream(node: syntax.Declaration, source: Source, tables: Mapping[str, Relation]) -> tuple[Stream, ...]:
    """One stream, or its parts where it has several locations. `tables` are the relations that COMPLETE BY may
    name, by their lower-case names."""
    columns = _columns(node, source)
    options = _options(node, source)
    punctuation, release = options.pop(PUNCTUATION, None), options.pop(RELEASE, None)
    traffic = declare_traffic({name: options.pop(name) for name in TRAFFIC if name in options}, columns, source)
    violation = node.args.get("on_violation")
    stream = Stream(
        node.name,
        columns,
        origin=_origin(node, source, options),
        punctuation_column=punctuation.text("value") if punctuation else PUNCTUATION_COLUMN,
        release=_released_after(release, source) if release is not None else None,
        on_violation="fail" if violation is not None and violation.name == "FAIL" else "quarantine",
        traffic=traffic,
        span=span(node, source),
    )
    _check_punctuation_column(stream)
    constraints = tuple(_constraint(line, stream, source, tables) for line in node.args.get("constraints") or ())
    stream = replace(stream, constraints=constraints)
    if release is not None and stream.time is None:
        raise refusal(
            Code.RELEASE_WITHOUT_TIME,
            f"`{stream.name}` has no time that says how old a row is",
            span(release, source),
            because="the time of a stream is the column in ORDERED BY",
            help=f"add ORDERED BY (…) to `{stream.name}`, or leave the option out",
        )
    return _parts(stream, node, source)


def _released_after(option: syntax.OptionPair, source: Source) -> Interval:
    """`INTERVAL 1 DAY`, or the same without the word."""
    text = option.text("value").strip()
    length = fixed_length(text[len("INTERVAL") :] if text.upper().startswith("INTERVAL") else text)
    if length is None:
        raise refusal(
            Code.BAD_INTERVAL,
            "an interval here is one positive number of one unit",
            span(option, source),
            because=f"units of fixed length are {', '.join(UNITS)}",
            help="OPTIONS (release 'INTERVAL 1 DAY')",
        )
    return length


def _parts(stream: Stream, node: syntax.Declaration, source: Source) -> tuple[Stream, ...]:
    places = node.args.get("location")
    if not isinstance(places, exp.Tuple):
        return (stream,)
    assert stream.origin is not None
    origins = [replace(stream.origin, location=place.name) for place in places.expressions]
    if len(origins) == 1:
        return (replace(stream, origin=origins[0]),)
    for promise in stream.promises:
        if isinstance(promise, Unique | ClusteredBy | ClosedBy):
            raise refusal(
                Code.MISPLACED_CLAUSE,
                "a row closes a key at its own location only",
                promise.span,
                because="at the other locations of the stream nothing may ever close it",
                help="let each of them send punctuations (PUNCTUATED BY), or declare a stream for each",
            )
    rate = stream.traffic.rate
    traffic = replace(stream.traffic, rate=None if rate is None else rate / len(origins))
    return tuple(
        replace(stream, name=f"{stream.name}[{number}]", origin=origin, traffic=traffic)
        for number, origin in enumerate(origins, 1)
    )


def _columns(node: syntax.Declaration, source: Source) -> tuple[Column, ...]:
    definitions = node.args.get("columns") or ()
    if not definitions:
        raise refusal(
            Code.MISSING_CLAUSE,
            f"the {node.args['kind'].lower()} `{node.name}` has no columns",
            span(node.this, source),
            help=f"list them: CREATE {node.args['kind']} {node.name} (id BIGINT, …)",
        )
    columns: dict[str, Column] = {}
    for definition in definitions:
        column = _column(definition, source)
        first = columns.setdefault(column.name.lower(), column)
        if first is not column:
            raise refusal(
                Code.DUPLICATE_COLUMN,
                f"the column `{column.name}` is declared twice",
                column.span,
                also=[Label(first.span, "the first")] if first.span else [],
            )
    return tuple(columns.values())


def _column(definition: exp.ColumnDef, source: Source) -> Column:
    kind = definition.args["kind"]
    type = to_type(kind) if isinstance(kind, exp.DataType) else None
    if type is None:
        raise refusal(
            Code.UNKNOWN_TYPE,
            f"the type of `{definition.name}` is not a type of Spark",
            span(kind, source) or span(definition, source),
        )
    return Column(definition.name, type, span(definition, source))


def _options(node: syntax.Declaration, source: Source) -> dict[str, syntax.OptionPair]:
    """By lower-case key: Spark does not tell the case of options apart."""
    options: dict[str, syntax.OptionPair] = {}
    for pair in node.args.get("options") or ():
        if options.setdefault(pair.name.lower(), pair) is not pair:
            raise refusal(Code.DUPLICATE_OPTION, f"the option `{pair.name}` is given twice", span(pair, source))
    return options


def _origin(node: syntax.Declaration, source: Source, options: Mapping[str, syntax.OptionPair]) -> Origin:
    kind = node.args["kind"]
    using = node.args.get("using")
    if using is None:
        raise refusal(
            Code.MISSING_CLAUSE,
            f"the {kind.lower()} `{node.name}` does not say its format",
            span(node.this, source),
            help=f"add USING: CREATE {kind} {node.name} … USING parquet LOCATION '…'",
        )
    location = node.args.get("location")
    return Origin(
        format=using.name,
        location=location.name if isinstance(location, exp.Literal) else None,
        options=tuple((pair.name, pair.text("value")) for pair in options.values()),
        span=span(using, source),
    )


def _refuse_locations(node: syntax.Declaration, source: Source) -> None:
    places = node.args.get("location")
    if isinstance(places, exp.Tuple):
        raise refusal(
            Code.MISPLACED_CLAUSE,
            f"a {node.args['kind'].lower()} has one location",
            span(places.expressions[0], source) or span(node.this, source),
            because="of several, each punctuates for itself, and only streams have punctuations",
        )


def _refuse_constraints(node: syntax.Declaration, source: Source) -> None:
    for line in node.args.get("constraints") or ():
        raise refusal(
            Code.MISPLACED_CLAUSE,
            "a table takes no constraints",
            span(line, source),
            because="it is finite and read once: there is nothing to promise about what is still to come",
        )


def _refuse_violation(node: syntax.Declaration, source: Source) -> None:
    if (violation := node.args.get("on_violation")) is not None:
        raise refusal(
            Code.MISPLACED_CLAUSE,
            f"a {node.args['kind'].lower()} promises nothing that could be violated",
            span(violation, source),
        )


def _refuse_own_options(options: Mapping[str, syntax.OptionPair], source: Source) -> None:
    for name in (PUNCTUATION, RELEASE, *TRAFFIC):
        if name in options:
            raise refusal(Code.MISPLACED_CLAUSE, f"`{name}` is an option of streams", span(options[name], source))


def _check_punctuation_column(stream: Stream) -> None:
    for column in stream.columns:
        if column.name.lower() == stream.punctuation_column.lower():
            raise refusal(
                Code.PUNCTUATION_COLUMN,
                f"`{column.name}` is the column that carries the punctuations of `{stream.name}`",
                column.span,
                "so it is not a column of the rows",
                help="leave it out, or name another column in OPTIONS (punctuation '…')",
            )


def _constraint(
    line: syntax.Constraint, stream: Stream, source: Source, tables: Mapping[str, Relation]
) -> Constraint:
    at = span(line, source)
    known = _known if isinstance(line, syntax.OrderedByConstraint) else _closable  # an order asks for more
    columns = known(line.expressions, stream, source)
    life = _length(line.args.get("lifespan"), source)
    match line:
        case syntax.PunctuatedByConstraint():
            return PunctuatedBy(_names(columns), life, at)
        case syntax.UniqueConstraint():
            return Unique(_names(columns), life, at)
        case syntax.ClusteredByConstraint():
            return ClusteredBy(_names(columns), life, at)
        case syntax.OrderedByConstraint():
            slack, idle = (_length(line.args.get(each), source) for each in ("slack", "idle"))
            _check_order(columns[0], {"WITHIN": slack, "IDLE AFTER": idle}, at)
            return OrderedBy(columns[0].name, slack, idle, life, at)
        case syntax.ClosedByConstraint():
            return ClosedBy(_names(columns), _condition(line, stream, source), life, at)
        case syntax.CompleteByConstraint():
            per = _closable(line.args["per"], stream, source)
            table = _listing_table(line.args["table"], per, source, tables)
            return CompleteBy(_names(columns), _names(per), table, life, at)
        case syntax.DomainConstraint():
            return Check(_condition(line, stream, source), at)
        case _:
            raise AssertionError(f"the parser makes no {type(line).__name__}")


def _names(columns: Iterable[Column]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def _known(names: list[exp.Identifier], stream: Stream, source: Source) -> tuple[Column, ...]:
    known = {column.name.lower(): column for column in stream.columns}
    found: dict[str, Column] = {}
    for name in names:
        column = known.get(name.name.lower())
        at = span(name, source)
        if column is None:
            close = nearest(name.name, _names(stream.columns))
            raise refusal(
                Code.CONSTRAINT_COLUMN,
                f"`{stream.name}` has no column `{name.name}`",
                at,
                because=f"its columns are {listing(_names(stream.columns))}",
                help=f"did you mean `{close}`?" if close else None,
            )
        if column.name in found:
            raise refusal(Code.CONSTRAINT_COLUMN, f"`{column.name}` is named twice", at)
        found[column.name] = column
    return tuple(found.values())


def _closable(names: list[exp.Identifier], stream: Stream, source: Source) -> tuple[Column, ...]:
    """The columns that a promise is about: a punctuation must be able to name a value of each."""
    columns = _known(names, stream, source)
    for name, column in zip(names, columns, strict=True):
        if not column.type.scalar:
            raise refusal(
                Code.NOT_CLOSABLE,
                f"`{column.name}` is {column.type}, of which no punctuation can name a value",
                span(name, source),
                help="promise something about a number, a text, a boolean, a date or a time",
            )
    return columns


def _length(node: exp.Expr | None, source: Source) -> Interval | None:
    return interval(node, source) if node is not None else None


def _check_order(column: Column, lengths: Mapping[str, Interval | None], at: Span | None) -> None:
    if not ordered(column.type) or not column.type.scalar:
        raise refusal(
            Code.NO_ORDER,
            f"`{column.name}` is {column.type}, which has no order to rely on",
            at,
            help="order by a number, a text, a date or a time",
        )
    for word, length in lengths.items():
        if length is not None and not column.type.temporal:
            raise refusal(
                Code.SLACK_NOT_TEMPORAL,
                f"`{column.name}` is {column.type}: {word} an interval needs a date or a time",
                at,
                because="a length of time can only be taken off a date or a time",
                help=f"leave {word} out, or order by a date or a time",
            )


def _condition(line: syntax.Constraint, stream: Stream, source: Source) -> Expr:
    """A condition over one row: its columns go by their own names."""
    columns = tuple(Named(column.name, column) for column in stream.columns)
    reach = Reach(source, (), columns)
    expr = typed(scalar(line.args["condition"], reach, "a constraint"), source)
    if not expr.type.boolean:
        raise refusal(
            Code.CONDITION_NOT_BOOLEAN, "the condition is not boolean", expr.span, f"this is {expr.type}"
        )
    return expr


def _listing_table(
    name: exp.Identifier, per: tuple[Column, ...], source: Source, tables: Mapping[str, Relation]
) -> str:
    at = span(name, source)
    table = tables.get(name.name.lower())
    if not isinstance(table, Table):
        known = [one.name for one in tables.values() if isinstance(one, Table)]
        raise refusal(
            Code.COMPLETE_TABLE,
            f"unknown table `{name.name}`" if table is None else f"`{name.name}` is a stream, not a table",
            at,
            because=f"the tables are {listing(known)}" if known else "no table is declared",
        )
    columns = {column.name.lower(): column for column in table.columns}
    for part in per:
        found = columns.get(part.name.lower())
        if found is None or not found.type.comparable(part.type):
            raise refusal(
                Code.COMPLETE_TABLE,
                f"`{table.name}` does not list `{part.name}`",
                at,
                f"a column `{part.name}` of type {part.type} is needed",
                because=f"its columns are {listing(columns)}",
            )
    return table.name
