"""A verdict as diagnostics: the state, whom it waits for, why, and what to add (THEORY section 10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from caesura.catalog import Check, PunctuatedBy
from caesura.clocks import idle_releases, idle_windows
from caesura.diagnostics import Diagnostic, Label, Span
from caesura.diagnostics.code import Code
from caesura.plan import Compare, Distinct, Frame, Group, Join, Plan, Rank, Scan, Session, Sort
from caesura.punctuation import Scheme
from caesura.safety import because
from caesura.safety.closing import Closing
from caesura.safety.growth import Kept
from caesura.safety.names import SHOWN, Names, bare, computed, few, listed, place, scans, series, written
from caesura.safety.predicates import null_with
from caesura.safety.presence import padded, present
from caesura.safety.reach import Reach, Unreached
from caesura.safety.repair import Addition
from caesura.safety.schemes import Derivation
from caesura.safety.states import Blocked, StateVerdict
from caesura.safety.verdict import Verdict


def diagnose(verdict: Verdict) -> tuple[Diagnostic, ...]:
    """An error for each state without a proof, a warning for what never emits, never forgets or never limits."""
    errors = (_error(state, verdict) for state in verdict.states if not state.bounded)
    growing = (kept for kept in verdict.judgement.kept if kept.by is None) if verdict.safe else ()
    plan = verdict.query.plan
    idle = (*map(_idle_window, idle_windows(plan)), *map(_idle_release, idle_releases(plan)))
    return (*errors, *map(_blocked, verdict.blocked), *map(_growing, growing), *idle)


def _error(state: StateVerdict, verdict: Verdict) -> Diagnostic:
    match state.proof:
        case Reach():
            return _join(state, state.proof, verdict)
        case Closing():
            return _closing(state, state.proof, verdict)
    raise AssertionError(f"{type(state.proof).__name__} proves its state bounded")


def _join(state: StateVerdict, reach: Reach, verdict: Verdict) -> Diagnostic:
    names, plans = verdict.judgement.names, reach.join.inputs
    missing = tuple(map(reach.lacks, reach.missing[:SHOWN]))
    awaited = few(reach.missing, lambda i: _one(plans[i], names))
    reasons = (reason for each in missing for reason in because.unreached(reach.join, each, names))
    summed = because.not_summed(reach.join, state.lack, names) if verdict.narrowing is not None else None
    message = f"the join state of {names.shown(plans[reach.start])} grows without bound"
    return Diagnostic(
        code=Code.UNSAFE_TREE if verdict.safe_without_hints else Code.JOIN_UNBOUNDED,
        message=f"{message} in the tree that TREE asks for" if verdict.safe_without_hints else message,
        labels=_labels(
            (place(plans[reach.start]), f"every row waits for {awaited} that may still come"),
            *((place(plans[each.input]), _lacks(each)) for each in missing),
        ),
        because=(*reasons, *because.useless_conditions(reach.join), *filter(None, (summed,))),
        help=tuple(_join_help(reach, verdict)),
    )


def _closing(state: StateVerdict, closing: Closing, verdict: Verdict) -> Diagnostic:
    judgement = verdict.judgement
    code, message, label = _complaint(closing, judgement.names)
    if closing.barred:
        label = f"rows whose {written(closing.kept, closing.barred[0])} is NULL stay for ever"
    return Diagnostic(
        code=code,
        message=message,
        labels=_labels((state.span, label)),
        because=tuple(dict.fromkeys(because.not_closed(closing, judgement.derivation, judgement.names))),
        help=tuple(_closing_help(closing, verdict)),
    )


def _complaint(closing: Closing, names: Names) -> tuple[Code, str, str]:
    shown = names.shown(closing.kept)
    match closing.node:
        case Group() if closing.few_entries:
            (first, *_) = closing.growing
            column = written(closing.kept, first.column)
            message = f"the values of {column} that {first.function} keeps of {shown} grow without bound"
            return Code.GROUP_UNBOUNDED, message, "no group is ever complete"
        case Group():
            keys = ", ".join(written(closing.kept, key) for key in closing.keys)
            message = f"the groups of {shown} by ({keys}) grow without bound"
            return Code.GROUP_UNBOUNDED, message, "no group is ever complete"
        case Rank() if closing.few_entries:
            message = f"the rows of {shown} that {closing.node.function} keeps grow without bound"
            return Code.RANK_UNBOUNDED, message, "no partition is ever complete"
        case Rank():
            keys = ", ".join(written(closing.kept, key) for key in closing.keys)
            message = f"the partitions of {shown} by ({keys}) grow without bound"
            return Code.RANK_UNBOUNDED, message, "no partition is ever complete"
        case Session(time=time):
            message = f"the sessions of {shown} by {written(closing.kept, time)} grow without bound"
            return Code.GROUP_UNBOUNDED, message, "a row that belongs to a session may always come"
        case Distinct():
            message = f"the rows that {names.shown(closing.node)} has seen grow without bound"
            return Code.DISTINCT_UNBOUNDED, message, "every row is kept, in case it comes again"
        case Compare():
            message = f"the state of {shown} in {names.shown(closing.node)} grows without bound"
            label = f"every row is kept, in case {names.shown(closing.source)} has it"
            return Code.COMPARISON_UNBOUNDED, message, label
        case Frame() if closing.out:
            keys = ", ".join(written(closing.kept, key) for key in closing.keys)
            message = f"what frames can still reach of {shown} by ({keys}) grows without bound"
            return Code.FRAME_UNBOUNDED, message, "no partition is ever complete"
        case Frame():
            message = f"the rows of {shown} that wait for their turn grow without bound"
            return Code.FRAME_UNBOUNDED, message, "an earlier row may still come"
        case Sort():
            message = f"the rows of {shown} that wait for their turn grow without bound"
            return Code.SORT_UNBOUNDED, message, "an earlier row may still come"


def _blocked(blocked: Blocked) -> Diagnostic:
    message = f"`{blocked.operator}` never emits a row"
    match blocked.node:
        case Group():
            help = "group by a column that the input punctuates, or end the query with EMIT CHANGES"
        case Rank():
            help = "partition by a column that the input punctuates"
        case Session():
            help = "let the input be ordered by the time of the sessions"
        case Join():
            message += " without a partner"
            help = "let the stream punctuate a column of ON"
        case _:
            help = "let the second query punctuate one of its columns"
    label = "its state is bounded, but its result is never final"
    return _warning(Code.BLOCKED, message, (blocked.span, label), blocked.because, help)


def _growing(kept: Kept) -> Diagnostic:
    on = listed(kept.scheme.attributes)
    other = "let the other side punctuate the same columns" if kept.silent else "use integers or dates as keys"
    return _warning(
        Code.PUNCTUATIONS_GROW,
        f"the punctuations of `{kept.input}` on {on} grow by one entry per key",
        (kept.span, "rows leave, but what closed them must be remembered"),
        kept.because,
        f"{other}, or add LIFESPAN to the promise",
    )


def _idle_window(scan: Scan) -> Diagnostic:
    return _warning(
        Code.IDLE_WINDOW,
        f"the window on `{scan.alias}` limits nothing",
        (scan.span, "no input that it is joined with has a time"),
        "the time of an input is the column in ORDERED BY",
        "add ORDERED BY (…) to a stream that it is joined with, or leave the window out",
    )


def _idle_release(scan: Scan) -> Diagnostic:
    return _warning(
        Code.IDLE_RELEASE,
        f"OPTIONS (release …) of `{scan.relation.name}` gives nothing up here",
        (scan.span, "no inner join reads it with its time"),
        "it gives up rows that wait in an inner join, by the column in ORDERED BY",
        "let the join read the time of the stream, or leave the option out",
    )


def _warning(code: Code, message: str, note: tuple[Span | None, str], because: str, help: str) -> Diagnostic:
    return Diagnostic(code, message, _labels(note), (because,), (help,), severity="warning")


def _labels(*notes: tuple[Span | None, str]) -> tuple[Label, ...]:
    return tuple(Label(span, text) for span, text in notes if span is not None)


def _one(plan: Plan, names: Names) -> str:
    """`an auction`, or `a row of join` for what has no noun of its own."""
    below = scans(plan)
    name = names.shown(plan)
    if len(below) != 1 or names.shown(below[0]) != name:
        return f"a row of {name}"
    noun = below[0].relation.name
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


def _lacks(missing: Unreached) -> str:
    if missing.pinned:
        columns = " or ".join(f"`{bare(column)}`" for column in missing.pinned)
        partly = any(set(c.scheme.attributes) & set(missing.pinned) for c in missing.candidates)
        return f"never punctuates {columns}" + (" alone" if partly else "")
    if missing.bounded:
        return f"is not ordered by {' or '.join(f'`{bare(column)}`' for column in missing.bounded)}"
    return "no equality connects it with what is known"


def _join_help(reach: Reach, verdict: Verdict) -> Iterator[str]:
    """The part of the repair that is about the inputs this state waits for; all of it if none is."""
    if verdict.safe_without_hints:
        yield "leave TREE out: as one join of all inputs the query is safe"
        return
    waited = {scan.relation.name for i in reach.missing for scan in scans(reach.join.inputs[i])}
    additions = tuple(_additions(verdict))
    for each in [each for each in additions if each.stream in waited] or additions:
        yield _advice(each, unique=not reach.join.lonely)
    for missing in map(reach.lacks, reach.missing[:SHOWN]):
        if not missing.pinned and not additions:
            shown = verdict.judgement.names.shown(reach.join.inputs[missing.input])
            yield f"join {shown} by an equality on a column that it can punctuate"
    yield from _narrowed(verdict)


def _narrowed(verdict: Verdict) -> Iterator[str]:
    for each in verdict.narrowing or ():
        assert isinstance(each.constraint, Check)
        condition = each.constraint.condition
        (column,) = condition.columns
        bounded = f"bound {each.stream}.{column}{_way(condition.tree)}"
        yield f"{bounded}, for instance {because.text(condition)}, in WHERE or as a CHECK of `{each.stream}`"


def _way(condition: exp.Expr) -> str:
    match condition:
        case exp.LT():
            return " from above"
        case exp.GT():
            return " from below"
        case _:
            return ""


def _closing_help(closing: Closing, verdict: Verdict) -> Iterator[str]:
    additions = tuple(_additions(verdict))
    lonely = isinstance(closing.node, Compare) and closing.node.kind == "except"
    yield from (_advice(each, unique=not lonely) for each in additions)
    if not additions:
        yield from (_never_null(closing.kept, each) for each in closing.barred)
    if isinstance(closing.node, Group) and closing.few_entries and not additions:
        yield "group by a column that the input punctuates"
    if isinstance(closing.node, Rank) and closing.few_entries:
        yield from _limit_help(closing, closing.node, verdict.judgement.derivation)
    if isinstance(closing.node, Frame):
        yield from _frame_help(closing, closing.node, verdict.judgement.derivation)
    if isinstance(closing.node, Sort) and not additions:
        if closing.node.keys[0].descending:
            yield "sort by a rising column, or where the sink is read"
        elif closing.nullable:
            yield _never_null(closing.kept, closing.nullable[0])
    yield from _narrowed(verdict)


def _frame_help(closing: Closing, frame: Frame, derivation: Derivation) -> Iterator[str]:
    first = frame.order[0]
    column = written(closing.kept, first.column)
    if closing.out:
        yield "RANGE BETWEEN … PRECEDING AND CURRENT ROW, with a length, needs no partition to end"
    elif first.descending:
        yield f"order by {column} as it rises"
    elif Scheme((first.column,), ordered=True) in derivation.of(frame.input):
        yield _never_null(closing.kept, first.column)


def _limit_help(closing: Closing, rank: Rank, derivation: Derivation) -> Iterator[str]:
    if rank.limit is None:
        yield f"ask for the first ones only, with a condition such as QUALIFY {rank.function}() OVER (…) <= 10"
    if rank.ties:
        yield "ROW_NUMBER keeps no more rows than it is asked for"
    first = rank.order[0]
    ordered = Scheme((first.column,), ordered=True) in derivation.of(rank.input)
    if ordered and not first.descending and not present(rank.input, first.column):
        yield _never_null(closing.kept, first.column)


def _never_null(plan: Plan, column: str) -> str:
    """How to keep NULL away from a column, or from those that it is computed from."""
    expr = computed(plan, column)
    if padded(plan, column):
        return f"add WHERE {written(plan, column)} IS NOT NULL"
    if expr is None or (sources := sorted(map(bare, null_with(expr.tree)))):
        columns = (bare(column),) if expr is None else tuple(sources)
        condition = " AND ".join(f"{each} IS NOT NULL" for each in columns)
        return f"declare {series(columns)} NOT NULL, or add WHERE {condition}"
    return f"add WHERE {written(plan, column)} IS NOT NULL"


def _advice(addition: Addition, *, unique: bool) -> str:
    """`unique`: a key that is closed by its only row would do as well."""
    match addition.constraint:
        case Check() if addition.present is not None:
            column = addition.present
            return f"declare {column} NOT NULL in `{addition.stream}`, or add WHERE {column} IS NOT NULL"
        case PunctuatedBy(columns=columns) if unique:
            key = ", ".join(columns)
            return f"add {addition.add} to `{addition.stream}`, or UNIQUE ({key}) if each {key} comes once"
        case _:
            return f"add {addition.add} to `{addition.stream}`"


def _additions(verdict: Verdict) -> Iterable[Addition]:
    first = verdict.repairs[0] if verdict.repairs else ()
    return first if first != verdict.narrowing else ()
