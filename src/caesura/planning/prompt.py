"""Whether a gate on an input of a join (`through.py`) leaves every result in the slice in which it comes without.

A row waits no longer than for a row that its results need anyway. But punctuations wait with it, and who emits by
punctuations may have to wait for rows that are not his own. So above the consumer nothing may wait for one, and a
group between it and the producer must be closed by punctuations on all columns of the gate: the rows that such a
punctuation matches are let through together. A source may also punctuate ranges of values, which cannot be known
beforehand: then a group comes when the whole range is let through, so that it takes a hint.
"""

from __future__ import annotations

from caesura.catalog import OrderedBy, Promise, PunctuatedBy, Stream
from caesura.plan import Compare, Frame, Group, Join, Plan, Rank, Scan, Session, Sort, walk
from caesura.producers import Source
from caesura.safety.bounds import joined_on
from caesura.safety.equality import EqualityClass, equality_classes, matching_classes
from caesura.safety.schemes import Derived, derive


def prompt(plan: Plan, consumer: Join, sources: list[Source]) -> bool:
    """`sources` are the columns of the gate, all of one input of a producer."""
    above = [node for node in walk(plan) if node != consumer and any(consumer == below for below in walk(node))]
    if any(map(_expects_punctuations, above)) or not all(map(_lasting, walk(consumer))):
        return False
    (producer, i), *_ = ((source.join, source.input) for source in sources)
    if not any(source.groups for source in sources):
        return True
    by_range = consumer.demand is None and any(map(_punctuated, walk(producer)))
    if by_range or any(source.depth for source in sources):
        return False
    derivation = derive(plan)
    columns = [source.name for source in sources]
    if producer.compared.issuperset(columns):  # then rows of its other inputs decide as well, which leave by these
        schemes = derivation.schemes[producer.inputs[i]]
        used = (each for each in schemes if joined_on(producer).issuperset(each.scheme.attributes))
        if not all(_pins(each, columns, matching_classes(producer)) for each in used):
            return False
    by_group: dict[Group, list[str]] = {}
    for source in sources:
        for group, name in source.groups:
            by_group.setdefault(group, []).append(name)
    return all(
        _pins(each, names, equality_classes(group))
        for group, names in by_group.items()
        for each in derivation.schemes[group]
    )


def _pins(derived: Derived, columns: list[str], classes: tuple[EqualityClass, ...]) -> bool:
    """Whether the rows that a punctuation matches all have the same values in these columns."""
    alike = {name: each.columns[0] for each in classes for name in each.columns}
    constant = {alike.get(name, name) for name in derived.scheme.attributes}
    bounded = any(isinstance(each.promise, OrderedBy) for each in derived.promised)  # which may pass many values
    return not bounded and constant.issuperset(alike.get(name, name) for name in columns)


def _expects_punctuations(node: Plan) -> bool:
    """Whether it emits something when it hears that nothing more comes."""
    match node:
        case Group(emit=emit):
            return emit == "final"
        case Session() | Sort() | Rank() | Frame() | Compare():
            return True
        case Join():
            return bool(node.lonely)
        case _:
            return False


def _lasting(node: Plan) -> bool:
    """Whether what is closed stays closed: a row that waits for longer must not meet what comes after that."""
    return all(promise.lifespan is None for promise in _promises(node))


def _punctuated(node: Plan) -> bool:
    return any(isinstance(promise, PunctuatedBy) for promise in _promises(node))


def _promises(node: Plan) -> tuple[Promise, ...]:
    return node.relation.promises if isinstance(node, Scan) and isinstance(node.relation, Stream) else ()
