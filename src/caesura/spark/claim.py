"""A checkpoint is of one pipeline, executed in one way."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

from caesura import plan
from caesura.checkpoint.contents import PIPELINE
from caesura.checkpoint.damage import damaged
from caesura.checkpoint.manifest import MANIFESTS
from caesura.checkpoint.sealed import read_sealed, seal
from caesura.checkpoint.storage import Storage
from caesura.diagnostics import CaesuraError, Diagnostic
from caesura.diagnostics.code import Code
from caesura.planning.choose import Arrangements, Gates, chosen, demanded, let_through
from caesura.planning.statistics import Statistics
from caesura.planning.through import Gate
from caesura.safety.tree import Arrangement
from caesura.spark.fingerprint import fingerprint


@dataclass(frozen=True)
class Claim:
    """What decides which state tables a checkpoint has, besides the pipeline."""

    gates: Gates
    arrangements: Arrangements
    fewest_schemes: bool
    mark: str
    """Of what comes from this checkpoint."""


def claimed(storage: Storage, pipeline: plan.Pipeline, statistics: Statistics, *, fewest_schemes: bool) -> Claim:
    """A checkpoint is of one pipeline: state of another would be read as if it were its own. So it keeps how
    joins were arranged and where demand was let through when it was made, whatever is known about the streams by
    now, and the schemes."""
    mine, path = fingerprint(pipeline), storage.path(PIPELINE)
    if not storage.exists(PIPELINE):
        if storage.names(MANIFESTS):
            raise damaged(path, "it is missing")
        gates = demanded(pipeline, statistics)
        arrangements = chosen(let_through(pipeline, gates), statistics)
        claim = Claim(gates, arrangements, fewest_schemes, uuid4().hex[:8])
        written = {"fingerprint": mine, **asdict(claim), "sql": pipeline.source.text}
        storage.make()
        storage.write(seal("pipeline", written), PIPELINE)
        return claim
    theirs = read_sealed(storage, "pipeline", PIPELINE)
    if theirs["fingerprint"] != mine:
        raise CaesuraError(
            Diagnostic(
                Code.OTHER_PIPELINE,
                f"the checkpoint `{storage.root}` belongs to another pipeline",
                because=(
                    "its queries or the streams they read were declared differently when it was made, "
                    "or another version of Caesura made it",
                ),
                help=("use a new checkpoint for the changed pipeline; its SQL is in pipeline.json there",),
            )
        )
    kept = (tuple(map(_arrangement, several)) for several in theirs["arrangements"])
    gates = tuple(tuple(map(_gate, several)) for several in theirs["gates"])
    return Claim(gates, tuple(kept), theirs["fewest_schemes"], theirs["mark"])


def _gate(written: Any) -> Gate:
    return Gate(**{**written, "columns": tuple((mine, theirs) for mine, theirs in written["columns"])})


def _arrangement(written: Any) -> Arrangement | None:
    return None if written is None else Arrangement(_tree(written["tree"]), written["demand"])


def _tree(written: Any) -> plan.Tree:
    return written if isinstance(written, int) else tuple(map(_tree, written))
