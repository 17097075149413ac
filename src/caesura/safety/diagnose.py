"""A verdict as diagnostics: the state, whom it waits for, why, and what to add (THEORY section 10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from caesura.diagnostics import Diagnostic, Label, Span
from caesura.diagnostics.code import Code
from caesura.plan import Plan, Scan, walk
from caesura.safety import because
from caesura.safety.closing import Closing
from caesura.safety.names import Names, bare, series
from caesura.safety.reach import Reach, Unreached
from caesura.safety.repair import Addition
from caesura.safety.states import Blocked, StateVerdict, place
from caesura.safety.verdict import Verdict


def diagnose(verdict: Verdict) -> tuple[Diagnostic, ...]:
    """An error for each state without a proof, a warning for each operator that would never emit."""
    errors = (_error(state, verdict) for state in verdict.states if not state.bounded)
    return (*errors, *map(_warning, verdict.blocked))


def _error(state: StateVerdict, verdict: Verdict) -> Diagnostic:
    match state.proof:
        case Reach():
            return _join(state.proof, verdict)
        case Closing():
            return _group(state, state.proof, verdict)
    raise AssertionError(f"{type(state.proof).__name__} proves its state bounded")


def _join(reach: Reach, verdict: Verdict) -> Diagnostic:
    names, plans = verdict.judgement.names, reach.join.inputs
    awaited = series(tuple(_one(plans[missing.input], names) for missing in reach.unreached))
    reasons = (reason for each in reach.unreached for reason in because.unreached(reach.join, each, names))
    return Diagnostic(
        code=Code.JOIN_UNBOUNDED,
        message=f"the join state of {names.shown(plans[reach.start])} grows without bound",
        labels=_labels(
            (place(plans[reach.start]), f"every row waits for {awaited} that may still come"),
            *((place(plans[missing.input]), _lacks(missing)) for missing in reach.unreached),
        ),
        because=(*reasons, *because.useless_conditions(reach.join)),
        help=tuple(_help(reach, verdict)),
    )


def _group(state: StateVerdict, closing: Closing, verdict: Verdict) -> Diagnostic:
    judgement = verdict.judgement
    keys = ", ".join(bare(key) for key in closing.group.keys)
    return Diagnostic(
        code=Code.GROUP_UNBOUNDED,
        message=f"the groups of {judgement.names.shown(closing.group.input)} by ({keys}) grow without bound",
        labels=_labels((state.span, "no group is ever complete")),
        because=tuple(because.not_closed(closing, judgement.derivation, judgement.names)),
        help=tuple(f"add {each.add} to `{each.stream}`" for each in _additions(verdict)),
    )


def _warning(blocked: Blocked) -> Diagnostic:
    return Diagnostic(
        code=Code.BLOCKED,
        message=f"`{blocked.operator}` never emits a row",
        labels=_labels((blocked.span, "its state is bounded, but its result is never final")),
        because=(blocked.because,),
        help=("group by a column that the input punctuates",),
        severity="warning",
    )


def _labels(*notes: tuple[Span | None, str]) -> tuple[Label, ...]:
    return tuple(Label(span, text) for span, text in notes if span is not None)


def _one(plan: Plan, names: Names) -> str:
    """`an auction`, or `a row of join` for what has no noun of its own."""
    scans = [node for node in walk(plan) if isinstance(node, Scan)]
    name = names.shown(plan)
    if len(scans) != 1 or names.shown(scans[0]) != name:
        return f"a row of {name}"
    noun = scans[0].relation.name
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


def _lacks(missing: Unreached) -> str:
    if not missing.pinned:
        return "no equality connects it with what is known"
    columns = " or ".join(f"`{bare(column)}`" for column in missing.pinned)
    partly = any(set(c.scheme.attributes) & set(missing.pinned) for c in missing.candidates)
    return f"never punctuates {columns}" + (" alone" if partly else "")


def _help(reach: Reach, verdict: Verdict) -> Iterator[str]:
    """The part of the repair that is about the inputs this state waits for; all of it if none is."""
    waited = {
        node.relation.name
        for missing in reach.unreached
        for node in walk(reach.join.inputs[missing.input])
        if isinstance(node, Scan)
    }
    additions = tuple(_additions(verdict))
    for each in [each for each in additions if each.stream in waited] or additions:
        key = ", ".join(each.constraint.columns)
        yield f"add {each.add} to `{each.stream}`, or UNIQUE ({key}) if each {key} comes once"
    for missing in reach.unreached:
        if not missing.pinned and not additions:
            shown = verdict.judgement.names.shown(reach.join.inputs[missing.input])
            yield f"join {shown} by an equality on a column that it can punctuate"


def _additions(verdict: Verdict) -> Iterable[Addition]:
    return verdict.repairs[0] if verdict.repairs else ()
