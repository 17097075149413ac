"""Proofs as sentences: each says what lets a row or a group go, or what it waits for in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from caesura.catalog import (
    ClosedBy,
    ClusteredBy,
    CompleteBy,
    Interval,
    OrderedBy,
    Promise,
    PunctuatedBy,
    Unique,
)
from caesura.expression import Expr
from caesura.expression import shown as shown_sql
from caesura.plan import (
    Compare,
    Distinct,
    Frame,
    Group,
    Join,
    Plan,
    Project,
    Rank,
    Scan,
    Session,
    Sort,
    types_of,
    walk,
)
from caesura.punctuation import Scheme
from caesura.safety.bounded import Lack
from caesura.safety.bounds import Shift
from caesura.safety.closing import Closing
from caesura.safety.equality import inexact
from caesura.safety.monotone import disordered, rising
from caesura.safety.names import SHOWN, Names, bare, few, listed, series, written
from caesura.safety.presence import present
from caesura.safety.reach import Hop, Reach, Unreached, staying
from caesura.safety.schemes import Derivation, Derived
from caesura.safety.synopsis import Synopsis


def constraint(promise: Promise) -> str:
    """A promise as it is written in a declaration."""
    match promise:
        case PunctuatedBy(columns=columns):
            return f"PUNCTUATED BY ({_declared(columns)})"
        case Unique(columns=columns):
            return f"UNIQUE ({_declared(columns)})"
        case ClusteredBy(columns=columns):
            return f"CLUSTERED BY ({_declared(columns)})"
        case OrderedBy(column=column, slack=slack, idle=idle):
            within, after = f" WITHIN {slack.sql}" if slack else "", f" IDLE AFTER {idle.sql}" if idle else ""
            return f"ORDERED BY ({_declared((column,))}{within}{after})"
        case ClosedBy(columns=columns, condition=condition):
            return f"CLOSED BY ({_declared(columns)}) WHEN {text(condition)}"
        case CompleteBy(columns=columns, per=per, table=table):
            return f"COMPLETE BY ({_declared(columns)}) PER ({_declared(per)}) IN {_declared((table,))}"


def _declared(names: Iterable[str]) -> str:
    """Names as SQL, quoted where they have to be."""
    return ", ".join(n if n.isidentifier() and n.isascii() else "`" + n.replace("`", "``") + "`" for n in names)


def finite(plan: Plan, names: Names) -> str:
    """Why nothing new comes from a plan without streams."""
    relations = tuple(dict.fromkeys(names.shown(node) for node in walk(plan) if isinstance(node, Scan)))
    return f"{series(relations)} {'is' if len(relations) == 1 else 'are'} finite and read once"


def row_leaves(reach: Reach, derivation: Derivation, names: Names) -> str:
    join, hops = reach.join, reach.first_hops(SHOWN)
    clauses = [closes(hop, derivation.origin(join.inputs[hop.input], hop.scheme), names) for hop in hops]
    more = len(join.inputs) - 1 - len(reach.static) - len(hops)
    if more > 0:
        clauses.append(f"{more} more inputs have done likewise")
    return f"a row of {names.shown(join.inputs[reach.start])} leaves when {', and '.join(clauses)}"


def row_stays(reach: Reach, names: Names) -> str:
    lacking = map(reach.lacks, reach.missing[:SHOWN])
    why = "; ".join(reason for each in lacking for reason in unreached(reach.join, each, names))
    row = names.shown(reach.join.inputs[reach.start])
    return f"a row of {row} waits for {awaited(reach, names)} for ever: {why}"


def awaited(reach: Reach, names: Names) -> str:
    return few(reach.missing, lambda i: names.shown(reach.join.inputs[i]))


def unreached(join: Join, missing: Unreached, names: Names) -> Iterator[str]:
    """One reason per scheme that does not help."""
    shown = names.shown(join.inputs[missing.input])
    for candidate in missing.candidates:
        punctuates = _punctuates(shown, candidate.scheme)
        if candidate.scheme.ordered:
            yield f"{punctuates}, which nothing in this join bounds from above"
        elif len(candidate.unpinned) == len(candidate.scheme.attributes):
            yield f"{punctuates}, which this join does not pin"
        else:
            yield f"{punctuates}, of which this join does not pin {listed(candidate.unpinned)}"
    if not missing.candidates:
        yield f"{shown} promises no punctuations"


def useless_conditions(join: Join) -> Iterator[str]:
    """Conditions of the join that pin nothing, which may surprise."""
    for left, right in inexact(join):
        yield f"`{left} = {right}` pins nothing: of these types one value may equal several"
    if join.residual is not None:
        yield (
            f"`{text(join.residual)}` pins no value: only an equality of two columns of one type does; "
            "a bound pins what a stream is ORDERED BY"
        )


def summed(synopsis: Synopsis, names: Names) -> str:
    """What stands for the rows of a join input, and why it is little."""
    rows = names.shown(synopsis.join.inputs[synopsis.input])
    if synopsis.empty:
        return f"no row of {rows} is ever part of a result: the conditions contradict each other"
    why = f": {series(synopsis.why)}" if synopsis.why else ""
    bound = f", at most {synopsis.bound:,}" if synopsis.bound is not None and synopsis.keys else ""
    return f"of the rows of {rows} only {kept_of(synopsis)} is kept{bound}{why}"


def kept_of(synopsis: Synopsis) -> str:
    """What a synopsis keeps, as a noun."""
    each = f" for each {listed(tuple(key.column for key in synopsis.keys))}" if synopsis.keys else ""
    if synopsis.duplicates:
        return f"their number{each}"
    sides = (("greatest", synopsis.greatest), ("least", synopsis.least))
    kept = [f"the {word} {listed(tuple(e.column for e in side))}" for word, side in sides if side]
    if kept:
        return f"{series(tuple(kept))}{each}"
    return f"that there was one{each}"


def not_summed(join: Join, lack: Lack | None, names: Names) -> str | None:
    """Why no synopsis can stand for the rows of a join input."""
    if lack is None:
        return None
    column = str(lack.attribute)
    row = names.shown(join.inputs[join.owner(column)])
    unbounded = f"nothing bounds it from {lack.ways[0]}" if len(lack.ways) == 1 else "nothing bounds it"
    needed = {
        "exactly": "it is needed as it is",
        "equality": f"it has to equal {lack.other}",
        "order": f"it is compared in {series(tuple(dict.fromkeys(s for e in lack.references for s in e.said)))}",
    }
    return f"a synopsis of {row} would have to know every {bare(column)}: {needed[lack.needed]}, and {unbounded}"


def closed(closing: Closing, derived: Derived, names: Names) -> str:
    if isinstance(closing.node, Rank):
        return _ranked(closing, closing.node, derived, names)
    if isinstance(closing.node, Frame):
        return _framed(closing, closing.node, derived, names)
    keeping = tuple(dict.fromkeys(each.function for each in closing.growing))
    values = f", with every value that {series(keeping)} kept of it," if keeping else ""
    return f"{_subject(closing, names)} leaves{values} when {_all_close(derived, names)}"


def _ranked(closing: Closing, rank: Rank, derived: Derived, names: Names) -> str:
    """What is kept of a partition, until when."""
    shown, when = names.shown(closing.kept), _all_close(derived, names)
    if closing.passed:
        return f"a row of {shown} leaves when {when}; of each partition stays how many have left"
    unlimited = f", since nothing limits {rank.function}," if rank.limit is None else ""
    by = ", ".join(written(closing.kept, each) for each in closing.early.attributes) if closing.early else ""
    early = f"; a row leaves once {by} has passed it" if by else ""
    return f"of a partition of {shown} {_rows_kept(rank)}{unlimited} until {when}{early}"


def _framed(closing: Closing, frame: Frame, derived: Derived, names: Names) -> str:
    shown, when = names.shown(closing.kept), _all_close(derived, names)
    if closing.out:
        return f"of a partition of {shown} {_reach(frame)} kept until {when}"
    far = _farthest(frame) if closing.scheme is not None and closing.scheme.ordered else None
    return f"a row of {shown} comes out when {when}" + (f"; frames reach {far} back" if far is not None else "")


def _farthest(frame: Frame) -> str | None:
    """How far ranges reach back, if they do."""
    several = [each.preceding for each in frame.functions if each.unit == "range" and each.preceding]
    length = max(several, key=lambda far: far if isinstance(far, int) else far.microseconds, default=None)
    return length.sql if isinstance(length, Interval) else length if length is None else str(length)


def reached(frame: Frame) -> str:
    """What frames reach in a partition for as long as it is open, as a noun."""
    counts = [each.preceding for each in frame.functions if each.unit == "rows"]
    most = max((count for count in counts if isinstance(count, int)), default=0)
    rows = ["the last row" if most == 1 else f"the last {most:,} rows"] if most else []
    whole = ["the result so far"] if any(each.preceding is None for each in frame.functions) else []
    return series((*whole, *rows))


def _reach(frame: Frame) -> str:
    noun = reached(frame)
    return f"{noun} {'is' if noun in ('the last row', 'the result so far') else 'are'}"


def _rows_kept(rank: Rank) -> str:
    return f"{first_rows(rank)} {'is' if rank.limit == 1 and not rank.ties else 'are'} kept"


def first_rows(rank: Rank) -> str:
    """What a ranking keeps of a partition, as a noun."""
    match rank:
        case Rank(limit=None):
            return "all rows"
        case Rank(limit=1):
            return "the first row" + (" and those equal to it" if rank.ties else "")
        case Rank(limit=limit, function="DENSE_RANK"):
            return f"the rows of the first {limit} values"
        case Rank(limit=limit):
            return f"the first {limit} rows" + (" and those equal to the last" if rank.ties else "")


def stays(closing: Closing, derivation: Derivation, names: Names) -> str:
    verb = "never closes" if isinstance(closing.node, Group | Session | Rank) or closing.out else "stays for ever"
    if closing.few_entries:
        verb += " and grows"
    return f"{_subject(closing, names)} {verb}: " + "; ".join(
        dict.fromkeys(not_closed(closing, derivation, names))
    )


def not_closed(closing: Closing, derivation: Derivation, names: Names) -> Iterator[str]:
    """One reason per scheme that closes nothing, and the joins that let none through."""
    shown = names.shown(closing.source)
    if closing.few_entries:  # then they are what grows
        yield from (
            f"{each.function} keeps every value of {written(closing.kept, each.column)}, "
            "and nothing says that these are few"
            for each in closing.growing
        )
    if isinstance(closing.node, Rank) and closing.few_entries:
        yield from _taken(closing.node, derivation)
    if isinstance(closing.node, Frame) and not closing.out:
        yield _not_passed(closing.node, derivation, shown)
    if isinstance(closing.node, Sort) and closing.node.keys[0].descending:
        yield f"{listed(closing.keys)} falls, and a greater one may always come"
        return
    if isinstance(closing.node, Sort) and closing.nullable:
        yield f"{listed(closing.nullable)} may be NULL, and a row with NULL has no turn before the end"
    yield from (
        f"{written(closing.kept, each)} may be NULL, and no punctuation closes what is kept of such rows"
        for each in closing.barred
    )
    for outside in closing.outside:
        if isinstance(closing.node, Sort) and outside.attributes == closing.keys:
            yield f"{_punctuates(shown, outside.scheme)}, but in no order"
            continue
        rest = f"{listed(outside.attributes)} {'is' if len(outside.attributes) == 1 else 'are'}"
        yield f"{_punctuates(shown, outside.scheme)}, but {rest} not {_wanted(closing)}"
    yield from _disordered(closing, derivation)
    if not closing.outside and not closing.barred and not (isinstance(closing.node, Frame) and closing.keys == ()):
        yield f"no punctuation comes from {shown}"
    if isinstance(closing.node, Session):
        yield f"{shown} is not ordered by {written(closing.kept, closing.node.time)}, the time of the sessions"
    for node in walk(closing.source):
        if isinstance(node, Join):
            for i in staying(derivation.reaches[node]):
                lost = names.shown(node.inputs[i])
                yield f"{names.shown(node)} keeps {lost} for ever and so passes none of its punctuations on"


def _not_passed(frame: Frame, derivation: Derivation, shown: str) -> str:
    """Why a row has to wait for the end of its partition."""
    first = frame.order[0]
    name = written(frame.input, first.column)
    if first.descending:
        return f"{name} falls, and a greater one may always come"
    if Scheme((first.column,), ordered=True) in derivation.of(frame.input):
        return f"{name} may be NULL, and a row with NULL has no turn before its partition ends"
    return f"{shown} is not ordered by {name}"


def _taken(rank: Rank, derivation: Derivation) -> Iterator[str]:
    """Why a partition that nothing closes takes ever more rows."""
    if rank.limit is None:
        yield f"nothing limits {rank.function}, so that every row is kept"
    elif rank.ties:
        yield f"{rank.function} gives any number of equal rows the same number, and keeps them all"
    first = rank.order[0]
    name = written(rank.input, first.column)
    if Scheme((first.column,), ordered=True) not in derivation.of(rank.input):
        return
    if first.descending:
        yield f"{name} falls, and a greater one may always come"
    elif not present(rank.input, first.column):
        yield f"{name} may be NULL, and no bound says that no such row comes"


def _disordered(closing: Closing, derivation: Derivation) -> Iterator[str]:
    """Why texts of an ordered time are not closed with it."""
    match closing.source:
        case Project(input=below, outputs=outputs):
            ordered = {s.attributes[0] for s in derivation.of(below) if s.ordered}
            for expr in (output.expr for output in outputs if output.name in closing.keys):
                for column, shown, why in disordered(expr.tree):
                    if column in ordered:
                        yield f"`{shown}` is not in the order of {bare(column)}: {why}"
                if isinstance(closing.node, Sort) and (column := _years(expr, below)) in ordered:
                    yield f"a year after 9999 is written with a sign, before all others: sort by {bare(column)}"
        case _:
            pass


def _years(expr: Expr, below: Plan) -> str:
    """The time that is written as a text which begins with the year."""
    text = rising(expr.tree, types_of(below))
    return text.column if text is not None and text.least is not None else ""


def few_values(closing: Closing, names: Names) -> str:
    """Why a state needs no punctuation."""
    what = _entry(closing)
    if closing.single:
        entries = f"there is one {what}"
        entries += f", because its {_columns(closing)} are constant" if closing.keys else ""
    else:
        named = isinstance(closing.node, Group | Session | Distinct | Compare)  # by the user, if computed
        shown = [(bare(key) if named else written(closing.kept, key), few.why) for key, few in closing.domains]
        known = series(tuple(f"{key}: {why}" for key, why in shown))
        entries = f"there are only so many {what}s: {known}"
    if isinstance(closing.node, Rank):
        entries += f"; of {'it' if closing.single else 'each'} {_rows_kept(closing.node)}"
    if isinstance(closing.node, Frame):
        entries += f"; of {'it' if closing.single else 'each'} {_reach(closing.node)} kept"
    within = dict.fromkeys(
        f"{written(closing.kept, each.column)}: {each.few.why}" for each in closing.values if each.few is not None
    )
    return entries + (f"; and only so many values in each: {series(tuple(within))}" if within else "")


def closes(hop: Hop, derived: Derived, names: Names) -> str:
    """A hop as a clause."""
    (pin, *_) = hop.pins
    if not pin.bounded:
        return _all_close(derived, names)
    by = shifted(bare(pin.by) if isinstance(pin.by, str) else pin.by, pin.shifts)
    promised = series(tuple(constraint(each.promise) for each in derived.promised))
    streams = series(tuple(dict.fromkeys(names.shown(each.scan) for each in derived.promised)))
    return f"{streams} has passed {by} with its {bare(pin.attribute)}: {promised}"


def _all_close(derived: Derived, names: Names) -> str:
    return ", and ".join(_promise_closes(names.shown(each.scan), each.promise) for each in derived.promised)


def _promise_closes(stream: str, promise: Promise) -> str:
    match promise:
        case OrderedBy(column=column):
            return f"{stream} has passed its {column}: {constraint(promise)}"
        case _:
            return f"{stream} closes its {listed(promise.columns)}: {constraint(promise)}"


def _subject(closing: Closing, names: Names) -> str:
    return f"a {_entry(closing)} of {names.shown(closing.kept)}"


def _entry(closing: Closing) -> str:
    match closing.node:
        case Group():
            return "group"
        case Session():
            return "session"
        case Rank():
            return "partition"
        case Frame():
            return "partition" if closing.out else "row"
        case Distinct() | Compare() | Sort():
            return "row"


def _columns(closing: Closing) -> str:
    return "keys" if isinstance(closing.node, Group | Session) else "columns"


def _wanted(closing: Closing) -> str:
    match closing.node:
        case Group():
            return "grouped by"
        case Session():
            return "a key beside the session"
        case Sort():
            return "the first column sorted by"
        case Rank() | Frame():
            return "partitioned by"
        case Distinct() | Compare():
            return "selected"


def _punctuates(shown: str, scheme: Scheme) -> str:
    attributes = ", ".join(map(bare, scheme.attributes))
    return f"{shown} {'is ordered by' if scheme.ordered else 'punctuates'} ({attributes})"


def shifted(by: str | Expr, shifts: Iterable[Shift]) -> str:
    """`opened + INTERVAL '12' HOUR`"""
    return " ".join((by if isinstance(by, str) else text(by), *map(str, shifts)))


def text(expr: Expr) -> str:
    return shown_sql(expr.tree)
