"""THEORY section 10: rows that make the state of an unsafe query grow, the constructive half of the proof.

The k-th row of every stream has the k-th value of each column's type in all its columns, so that the k-th rows of
several streams join with each other and with nothing else. Streams that the open state reaches send their rows and
then say all they have promised to say about these values. The others are silent: for each k a legal future row of
theirs still gives a result with the k-th rows and no others, so that those have to stay. Where columns are
compared otherwise than by equality, the k-th values are those of `spread.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date

from caesura.catalog import OrderedBy, PunctuatedBy, Stream, Unique
from caesura.plan import Compare, Frame, Group, Join, Plan, Rank, walk
from caesura.safety.bases import bases
from caesura.safety.closing import Closing
from caesura.safety.comparisons import Element
from caesura.safety.facts import closed
from caesura.safety.names import scans
from caesura.safety.passing import passing
from caesura.safety.presence import padded
from caesura.safety.reach import Reach
from caesura.safety.said import discrete, limits
from caesura.safety.sample import Cell, Sample, Samples, samples
from caesura.safety.schemes import Derivation, derive
from caesura.safety.spread import spread
from caesura.safety.states import lack_of, open_proofs
from caesura.types import Type

_ONE_DAY = date(2024, 1, 1).toordinal()


@dataclass(frozen=True)
class Item:
    """A row of a stream, or a punctuation: constants by column."""

    stream: Stream
    cells: Mapping[str, Cell]
    punctuation: bool = False

    @property
    def described(self) -> dict[str, object]:
        """For a reader: which stream says what."""
        return {"stream": self.stream.name, "punctuation" if self.punctuation else "row": dict(self.cells)}

    @property
    def in_band(self) -> dict[str, object]:
        """As the stream's source carries it."""
        return {self.stream.punctuation_column: json.dumps(self.cells)} if self.punctuation else dict(self.cells)


@dataclass(frozen=True)
class Witness:
    """What to feed to the streams, in order, so that the state that `proof` leaves open ends with as many rows.

    `doubts`: what was not taken into account, so that fewer rows may stay.
    """

    proof: Reach | Closing
    items: tuple[Item, ...]
    doubts: tuple[str, ...] = ()


def witness(plan: Plan, rows: int) -> Witness | None:
    """For the open state that reaches the fewest inputs and so takes the fewest partners; None if all is safe."""
    derivation = derive(plan)
    proof = min(open_proofs(plan, derivation), key=_partners, default=None)
    if proof is None:
        return None
    heard = dict.fromkeys(scan.relation for below in _heard(proof) for scan in scans(below))
    streams = [relation for relation in heard if isinstance(relation, Stream)]
    drawn = samples(plan, streams)
    if isinstance(proof, Reach) and (drawn.ignored or proof.join.residual is not None):
        drawn = _placed(drawn, plan, proof, derivation, rows)
    if isinstance(proof, Closing) and isinstance(proof.node, Rank) and (proof.few_entries or proof.barred):
        drawn = _tied(drawn, proof.node)
    if isinstance(proof, Closing):
        drawn = _barred(drawn, proof, derivation)
    said = [item for stream in streams for item in _said(stream, drawn.columns[stream.name], rows)]
    doubts = (*drawn.ignored, *_doubts(proof, streams, drawn, rows))
    return Witness(proof, tuple(sorted(said, key=lambda item: item.punctuation)), doubts)


def _placed(drawn: Samples, plan: Plan, proof: Reach, derivation: Derivation, rows: int) -> Samples:
    """The same with values that satisfy all comparisons of the join, and that no synopsis may take for one
    another. The occurrence whose state is open comes first, if a stream is read several times."""
    join, lack, known = proof.join, lack_of(plan, proof, derivation), closed(proof.join)
    own = frozenset[Element](column.name for column in join.inputs[proof.start].columns)
    found = None if lack is None else spread(known, lack, own, rows)
    if found is None:
        return drawn
    placed: dict[str, dict[str, Sample]] = {}
    for below in (join.inputs[proof.start], *join.inputs):
        for column in (each for each in below.columns if each.name in found.start and discrete(each.type)):
            numbers = [found.value(column.name, k) for k in range(1, rows + 1)]
            low, high = limits(column.type)
            if column.type.kind == "DATE" and known.ends_of(known.related(column.name)) is None:
                numbers = [_ONE_DAY + number for number in numbers]  # any will do to start with
            if not low <= min(numbers) <= max(numbers) <= high:
                return drawn
            values = tuple(_cell(number, column.type) for number in numbers)
            for stream, name in bases(below, column.name, through_order=False):
                placed.setdefault(stream.name, {}).setdefault(name, Sample(column.type, chosen=values))
    columns = {name: {**several, **placed.get(name, {})} for name, several in drawn.columns.items()}
    understood = {each.said for each in known.comparisons}
    return Samples(columns, tuple(each for each in drawn.ignored if each not in understood))


def _tied(drawn: Samples, rank: Rank) -> Samples:
    """The same with rows that are equal in the order: a ranking with a limit keeps no others for ever."""
    tied = [base for key in rank.order for base in bases(rank.input, key.column, through_order=False)]
    names = {(stream.name, name) for stream, name in tied}
    columns = {
        stream: {
            name: replace(each, chosen=(each.value(1),)) if rank.limit and (stream, name) in names else each
            for name, each in several.items()
        }
        for stream, several in drawn.columns.items()
    }
    return replace(drawn, columns=columns)


def _barred(drawn: Samples, proof: Closing, derivation: Derivation) -> Samples:
    """The same with NULL where nothing but that keeps rows from being closed, or from being passed by a bound.

    What an outer join puts in, no stream sends.
    """
    columns = {name: dict(several) for name, several in drawn.columns.items()}
    node, nulls = proof.node, tuple(each for each in proof.barred if not padded(proof.kept, each))
    if nulls and isinstance(node, Rank | Frame) and passing(node, derivation.of(node.input)) is not None:
        nulls = (*nulls, node.order[0].column)
    for column in nulls:
        for stream, name in bases(proof.kept, column, through_order=True):
            if stream.name in columns:
                columns[stream.name][name] = replace(columns[stream.name][name], chosen=(None,))
    return replace(drawn, columns=columns)


def _cell(number: int, type: Type) -> Cell:
    return date.fromordinal(number).isoformat() if type.kind == "DATE" else number


def _doubts(proof: Reach | Closing, streams: Iterable[Stream], drawn: Samples, rows: int) -> Iterator[str]:
    if isinstance(proof, Closing) and (proof.few_entries or proof.barred) and proof.growing:
        yield f"the groups stay few: it is the values kept for {proof.growing[0].function} in them that grow"
    for node in (node for below in _heard(proof) for node in walk(below)):
        match node:
            case Join(kind="anti") | Compare(kind="except"):
                yield "rows of both sides are equal, so that none is without a partner"
            case Group(keys=keys) if not any(True for key in keys for _ in bases(node, key, through_order=False)):
                yield "a grouping below may make fewer rows of these"
            case _:
                pass
    for stream in streams:
        for promise in stream.promises:
            columns = promise.columns
            samples = [drawn.columns[stream.name][column] for column in columns]
            values = {tuple(each.value(k) for each in samples) for k in range(1, rows + 1)}
            if any(None in value for value in values):
                continue  # which breaks no promise
            if isinstance(promise, Unique) and len(values) < rows:
                yield f"{stream.name} repeats {', '.join(columns)}, which is UNIQUE"
            if isinstance(promise, OrderedBy) and (samples[0].type.text or len(values) < rows):
                yield f"{stream.name} does not rise in {', '.join(columns)}, by which it is ORDERED"


def _partners(proof: Reach | Closing) -> int:
    return sum(len(scans(below)) for below in _heard(proof))


def _heard(proof: Reach | Closing) -> Iterable[Plan]:
    """The inputs that speak."""
    match proof:
        case Reach(join=join):
            return (join.inputs[i] for i in sorted(proof.closure.reached))
        case Closing(kept=kept):
            return (kept,)


def _said(stream: Stream, sample: Mapping[str, Sample], rows: int) -> Iterator[Item]:
    """All rows, then the promised punctuations on them, each once."""
    keys = [promise.columns for promise in stream.promises if isinstance(promise, PunctuatedBy)]
    closed: dict[tuple[tuple[str, Cell], ...], None] = {}
    for k in range(1, rows + 1):
        cells = {name: each.value(k) for name, each in sample.items()}
        yield Item(stream, cells)
        known = (key for key in keys if all(cells[name] is not None for name in key))
        closed |= dict.fromkeys(tuple((name, cells[name]) for name in key) for key in known)
    yield from (Item(stream, dict(cells), punctuation=True) for cells in closed)
