"""Synopses on Spark are those of the model: of rows, and of several synopses merged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from pyspark.sql import SparkSession

from caesura.model.operator import Row
from caesura.model.synopsis import kept
from caesura.operators.rows import leaf, union
from caesura.safety.needs import needs
from caesura.safety.summarise import summary
from caesura.safety.synopsis import Synopsis
from caesura.spark.summed import Summed
from tests.property.test_synopsis import Query

CASES = 8


def cases() -> list[tuple[Query, Summed, int]]:
    """Random queries with synopses of every kind: numbers of rows, that there was one, extremes of one or two."""
    found: dict[tuple[object, ...], tuple[Query, Summed, int]] = {}
    for seed in range(500):
        query = Query.drawn(Random(seed))
        plan, join = query.joined()
        need = needs(plan)[join]
        whole = summary(join, need)
        using = {i: each for i, each in enumerate(whole.inputs) if isinstance(each, Synopsis)}
        for i, each in using.items():
            clamped = sum(key.low is not None or key.high is not None for key in each.keys)
            kind = (each.duplicates, bool(clamped), len(each.greatest), len(each.least))
            if not each.empty and each.columns:
                found.setdefault(kind, (query, Summed(replace(join, need=need), whole, using), i))
    return list(found.values())


def test_a_synopsis_holds_what_the_model_keeps(spark: SparkSession) -> None:
    several = cases()
    assert len(several) >= CASES
    chance = Random(1)
    for query, summed, i in several:
        proof, names = summed.using[i], query.columns[i]
        drawn = [Row.of({name: chance.randint(-6, 7) for name in names}) for _ in range(40)]
        rows = [row for row in drawn if query.holds(row)]
        synopsis = summed.synopsis(i)
        assert synopsis is not None
        schema = ", ".join(f"`{name}` BIGINT" for name in names)
        parts = [
            leaf(spark.createDataFrame([tuple(row[n] for n in names) for row in part], schema))
            for k, part in enumerate((rows[:15], rows[15:]))
        ]
        both = union(map(synopsis.of, parts))
        assert both is not None
        merged = [found.asDict() for found in synopsis.merged(both).frame(spark).collect()]
        if proof.greatest or proof.least:  # of rows that will do equally well either may stay
            assert len(merged) == len({tuple(sorted(each.items())) for each in merged})
            again = kept(proof, (*(Row.of(each) for each in merged), *kept(proof, rows)))
            assert Counter(again) == Counter(kept(proof, [Row.of(each) for each in merged])), query.sql
            assert len(again) == len(kept(proof, rows)), query.sql
        else:
            found = {Row.of({n: row[n] for n in proof.columns}): row[synopsis.number] for row in merged}
            expected = Counter(kept(proof, rows))
            assert (found if proof.duplicates else found.keys()) == (
                dict(expected) if proof.duplicates else expected.keys()
            ), query.sql
