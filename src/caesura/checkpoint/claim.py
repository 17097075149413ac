"""A checkpoint is of one pipeline, executed in one way: state of another would be read as if it were its own.

It keeps the text of its queries, from which they are bound again: so the columns of its tables keep the names that
they were made with, whatever aliases the text has by now. It also keeps how joins were arranged and where demand
was let through, whatever is known about the streams by now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any
from uuid import uuid4

from caesura import plan
from caesura.catalog import Catalog, Stream, Values
from caesura.checkpoint.canonical import fingerprint, place
from caesura.checkpoint.change import differences
from caesura.checkpoint.contents import PIPELINE
from caesura.checkpoint.damage import damaged
from caesura.checkpoint.manifest import MANIFESTS
from caesura.checkpoint.sealed import read_sealed, seal
from caesura.checkpoint.storage import Storage
from caesura.checkpoint.typed import MisfitError
from caesura.diagnostics import CaesuraError, Diagnostic, Source
from caesura.diagnostics.code import Code
from caesura.planning.choose import chosen, demanded, executed, let_through
from caesura.planning.share import shared
from caesura.planning.single import ungrouped
from caesura.planning.statistics import Statistics
from caesura.planning.through import Gate
from caesura.safety.tree import Arrangement
from caesura.sql.bind import bind
from caesura.sql.secrets import without_secrets

_KIND = "pipeline"


@dataclass(frozen=True)
class Kept:
    """A query as it was when it came to a checkpoint."""

    name: str
    fingerprint: str
    place: str
    """Where its results go."""
    text: int
    """Which of the texts it is in."""
    since: int
    """Its first slice."""
    gates: tuple[Gate, ...]
    arrangements: tuple[Arrangement | None, ...]


@dataclass(frozen=True)
class Claim:
    mark: str
    """Of what comes from this checkpoint."""
    fewest_schemes: bool
    texts: tuple[str, ...]
    queries: tuple[Kept, ...]


@dataclass(frozen=True)
class Wish:
    """What is to be run on a checkpoint."""

    pipeline: plan.Pipeline
    statistics: Statistics
    fewest_schemes: bool = False
    add_queries: bool = False
    next: int = 0
    """The slice that comes next there."""
    ended: bool = False
    """Whether its streams have ended."""

    @cached_property
    def text(self) -> str:
        """As it is kept."""
        return without_secrets(self.pipeline.source)


def claimed(storage: Storage, wish: Wish) -> tuple[Claim, plan.Pipeline]:
    """The claim on a checkpoint, and the pipeline as it is executed there. Whoever goes on with it keeps it."""
    claim = _claim(storage, wish)
    try:
        return claim, _executed(claim, wish)
    except (LookupError, TypeError, ValueError) as error:
        raise damaged(storage.path(PIPELINE), f"it does not fit its own queries: {error!r}") from error
    except CaesuraError as error:
        why = f"its own queries cannot be bound any more: {error.diagnostics[0].message}"
        raise _refused(storage, (why,), ("use a new checkpoint",)) from error


def keep_claim(storage: Storage, claim: Claim) -> None:
    text = seal(_KIND, asdict(claim))
    if not storage.exists(PIPELINE) or storage.read(PIPELINE) != text.encode():
        storage.write(text, PIPELINE)


def _claim(storage: Storage, wish: Wish) -> Claim:
    path = storage.path(PIPELINE)
    if not storage.exists(PIPELINE):
        if storage.names(MANIFESTS):
            raise damaged(path, "it is missing")
        return _with(Claim(uuid4().hex[:8], wish.fewest_schemes, (), ()), wish, _asked(wish.pipeline))
    claim = _read(storage)
    kept = {each.name: each for each in claim.queries}
    queries, catalog = _asked(wish.pipeline), wish.pipeline.catalog
    moved = [each for each in queries if each.name in kept and place(each.sink) != kept[each.name].place]
    if moved:
        raise _moved(storage, kept, moved)
    same = all(
        each.name not in kept or fingerprint(each, catalog) == kept[each.name].fingerprint for each in queries
    )
    if not same or kept.keys() - {each.name for each in queries}:
        raise _other(storage, claim, wish)
    added = [each for each in queries if each.name not in kept]
    if added:
        _require_addable(storage, claim, wish, added)
        claim = _with(claim, wish, added)
    return claim


def _asked(pipeline: plan.Pipeline) -> list[plan.Query]:
    """A derived stream is part of the queries that read it."""
    return [query for query in pipeline.queries if query.kind != "stream"]


def _with(claim: Claim, wish: Wish, added: Sequence[plan.Query]) -> Claim:
    """With queries that begin now, arranged by what is known now."""
    gates = demanded(wish.pipeline, wish.statistics)
    arrangements = chosen(let_through(wish.pipeline, gates), wish.statistics)
    queries = tuple(
        Kept(
            query.name,
            fingerprint(query, wish.pipeline.catalog),
            place(query.sink),
            len(claim.texts),
            wish.next,
            its_gates,
            its_arrangements,
        )
        for query, its_gates, its_arrangements in zip(wish.pipeline.queries, gates, arrangements, strict=True)
        if query in added
    )
    texts = *claim.texts, wish.text
    return replace(claim, texts=texts, queries=(*claim.queries, *queries))


def _executed(claim: Claim, wish: Wish) -> plan.Pipeline:
    """With the sinks and sources of now."""
    pipeline = wish.pipeline
    now = {query.name: query for query in pipeline.queries}
    bound = [_bound_again(text, wish) for text in claim.texts]
    queries = tuple(
        replace(now[kept.name], plan=_reading(bound[kept.text][kept.name].plan, pipeline.catalog, kept.since))
        for kept in claim.queries
    )
    gates = tuple(kept.gates for kept in claim.queries)
    arrangements = tuple(kept.arrangements for kept in claim.queries)
    let = let_through(replace(pipeline, queries=queries), gates)
    return shared(ungrouped(executed(let, arrangements)))


def _bound_again(text: str, wish: Wish) -> dict[str, plan.Query]:
    """The queries of a text that was bound before, by name. Relations that a program declared are not in it."""
    if text == wish.text:
        return {query.name: query for query in wish.pipeline.queries}
    declared = tuple(each for each in wish.pipeline.catalog.relations if each.span is None)
    return {query.name: query for query in bind(Source(PIPELINE, text), Catalog(declared)).queries}


def _reading(node: plan.Plan, catalog: Catalog, since: int) -> plan.Plan:
    """The same plan over relations as they are declared now."""
    if isinstance(node, plan.Scan):
        written = isinstance(node.relation, Values)
        relation = node.relation if written else catalog.get(node.relation.name, node.relation)
        return replace(node, relation=relation, since=since)
    return plan.with_inputs(node, tuple(_reading(each, catalog, since) for each in plan.inputs(node)))


def _require_addable(storage: Storage, claim: Claim, wish: Wish, added: Sequence[plan.Query]) -> None:
    names = ", ".join(f"`{each.name}`" for each in added)
    if not wish.add_queries:
        raise _refused(
            storage, (f"{names} {_is(added)} new",), ("--add-queries starts new queries from the next slice on",)
        )
    if wish.ended:
        raise _refused(storage, (f"its streams have ended: nothing more comes for {names}",), ())
    asked = {query.name: query for query in _asked(wish.pipeline)}
    read = {stream for kept in claim.queries for stream in _streams(asked[kept.name])}
    if unread := {stream for query in added for stream in _streams(query)} - read:
        streams = ", ".join(f"`{name}`" for name in sorted(unread))
        raise _refused(
            storage,
            (f"{names} would read {streams}, of which the checkpoint has read nothing",),
            ("a query that is added reads streams that others read; run this one with a checkpoint of its own",),
        )


def _streams(query: plan.Query) -> set[str]:
    scans = (node.relation for node in plan.walk(query.plan) if isinstance(node, plan.Scan))
    return {relation.name for relation in scans if isinstance(relation, Stream)}


def _is(several: Sequence[object]) -> str:
    return "is" if len(several) == 1 else "are"


def _other(storage: Storage, claim: Claim, wish: Wish) -> CaesuraError:
    found = tuple(differences("".join(claim.texts[-1:]), wish.text))
    otherwise = "a relation that a program declares is another, or another version of Caesura made the checkpoint"
    help = (
        "use a new checkpoint for the changed pipeline",
        "or go on with the old one: what matters is which rows queries and streams have, and where results go; "
        "comments, aliases, hints and options of sinks may change",
    )
    return _refused(storage, found or (otherwise,), help)


def _refused(storage: Storage, because: tuple[str, ...], help: tuple[str, ...]) -> CaesuraError:
    message = f"the checkpoint `{storage.root}` belongs to another pipeline"
    return CaesuraError(Diagnostic(Code.OTHER_PIPELINE, message, because=because, help=help))


def _moved(storage: Storage, kept: Mapping[str, Kept], moved: Sequence[plan.Query]) -> CaesuraError:
    pairs = ((each.name, kept[each.name].place, place(each.sink)) for each in moved)
    because = tuple(f"`{name}` was written to {before}, and would be to {now}" for name, before, now in pairs)
    return _refused(storage, because, ("write to the same place, or use a new checkpoint",))


def _read(storage: Storage) -> Claim:
    claim: Claim = read_sealed(storage, _KIND, Claim, PIPELINE, readers={Arrangement: _arrangement})
    return claim


def _arrangement(written: Any) -> Arrangement:
    """A tree is of any depth, which its type does not say so that it can be read."""
    match written:
        case {"tree": tree, "demand": bool(demand)} if len(written) == 2:
            return Arrangement(_tree(tree), demand)
    raise MisfitError(f"{written!r} is no arrangement")


def _tree(written: Any) -> plan.Tree:
    match written:
        case bool():
            pass
        case int():
            return written
        case list():
            return tuple(map(_tree, written))
    raise MisfitError(f"{written!r} is no tree")
