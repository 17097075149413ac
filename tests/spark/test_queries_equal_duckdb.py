"""Queries of every kind over generated streams: what is out is contained in DuckDB's result over all rows, after
every slice, and equals it at the end."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

from pyspark.sql import SparkSession

from caesura.progress import Progress
from caesura.testing.drawn import Drawn
from caesura.testing.script import Script
from tests.spark.against_duckdb import Database, in_duckdb, inserts

TOWNS = ("Aachen", "Bonn", "Essen", "Hamm", "Ulm")
DAYS = [date(2026, 1, 1) + timedelta(days=day) for day in range(9)]
STREAMS = {
    "sale": "id BIGINT, customer BIGINT, town STRING, amount DECIMAL(8, 2)",
    "parcel": "sale BIGINT, customer BIGINT, town STRING, weight DOUBLE",
    "visit": "customer BIGINT, town STRING, day DATE",
}
PROMISES = {
    "sale": "PUNCTUATED BY (id), PUNCTUATED BY (customer)",
    "parcel": "PUNCTUATED BY (sale), PUNCTUATED BY (customer)",
    "visit": "PUNCTUATED BY (customer), ORDERED BY (day)",
}
DRAWN = {
    "sale": Drawn(
        {"id": range(16), "customer": range(9), "town": TOWNS, "amount": [Decimal(n) / 4 for n in range(40)]},
        closing=[[("id",), ("customer",)], [("id",), ("amount",)]],
    ),
    "parcel": Drawn(
        {"sale": range(16), "customer": range(9), "town": TOWNS, "weight": [n / 4 for n in range(40)]},
        closing=[[("town",)], [("sale",), ("customer",)]],
    ),
    "visit": Drawn(
        {"customer": range(9), "town": TOWNS, "day": DAYS},
        closing=[[("customer",)], [("customer", "town")]],
        rising="day",
    ),
}
COUNTRIES = [("Aachen", "de"), ("Bonn", "de"), ("Bonn", "it"), ("Oslo", "no"), ("", "none")]
QUERIES = {
    "selected": "SELECT * FROM sale WHERE amount > 5 AND town <> 'Ulm'",
    "projected": "SELECT id + 1 AS next, upper(town) AS town, amount * 2 AS twice FROM sale",
    "distinct_rows": "SELECT DISTINCT customer, town FROM sale",
    "joined": "SELECT s.id, s.amount, p.weight FROM sale AS s JOIN parcel AS p ON s.id = p.sale",
    "joined_heavy": "SELECT x.id, y.weight FROM sale AS x JOIN parcel AS y ON y.sale = x.id WHERE y.weight > 3",
    "joined_dear": """SELECT s.id, MAX(p.weight) AS most FROM sale AS s, parcel AS p
        WHERE s.id = p.sale AND s.amount > 5 AND p.weight IS NOT NULL GROUP BY s.id""",
    "with_table": "SELECT s.id, t.country FROM sale AS s JOIN town AS t ON s.town = t.name",
    "left_joined": "SELECT s.id, s.amount, p.weight FROM sale AS s LEFT JOIN parcel AS p ON s.id = p.sale",
    "right_joined": """SELECT s.amount, p.sale, p.weight FROM sale AS s
        RIGHT JOIN parcel AS p ON s.customer = p.customer AND s.town = p.town""",
    "full_joined": """SELECT s.id, s.customer AS one, p.sale, p.customer AS other FROM sale AS s
        FULL JOIN parcel AS p ON s.id = p.sale AND s.amount > p.weight""",
    "left_table": "SELECT s.id, t.country FROM sale AS s LEFT JOIN town AS t ON s.town = t.name AND s.amount > 5",
    "semi_joined": "SELECT * FROM sale AS s LEFT SEMI JOIN parcel AS p ON s.id = p.sale",
    "anti_joined": "SELECT * FROM sale AS s LEFT ANTI JOIN parcel AS p ON s.id = p.sale AND p.weight > 2",
    "exist": """SELECT id, town FROM sale AS s
        WHERE EXISTS (SELECT 1 FROM visit AS v WHERE v.customer = s.customer AND v.town < s.town)""",
    "not_exist": """SELECT sale, town FROM parcel AS p
        WHERE NOT EXISTS (SELECT 1 FROM visit AS v WHERE v.customer = p.customer AND v.town = 'Ulm')""",
    "within": "SELECT id, customer FROM sale WHERE (customer, town) IN (SELECT customer, town FROM parcel)",
    "merged": """SELECT id, town FROM sale UNION ALL SELECT sale, town FROM parcel
        UNION ALL SELECT id, 'x' FROM sale""",
    "united": "SELECT customer, town FROM sale UNION SELECT customer, town FROM visit",
    "common": "SELECT id, town FROM sale INTERSECT SELECT sale, town FROM parcel",
    "excepted": "SELECT customer, town FROM sale EXCEPT SELECT customer, town FROM parcel",
    "grouped": """SELECT customer, town, COUNT(*) AS n, SUM(amount) AS total, MIN(id) AS first,
        AVG(CAST(amount AS DOUBLE)) AS mean, MEDIAN(CAST(amount AS DOUBLE)) AS middle, COUNT(DISTINCT id) AS ids
        FROM sale GROUP BY customer, town""",
    "several": "SELECT sale, MAX(weight) AS weight FROM parcel GROUP BY sale HAVING COUNT(*) > 1",
    "in_order": "SELECT day, customer, town FROM visit WHERE day IS NOT NULL ORDER BY day, customer DESC, town",
    "joined_group": """SELECT s.id, SUM(p.weight) AS weight, COUNT(*) AS n FROM sale AS s
        JOIN parcel AS p ON s.id = p.sale GROUP BY s.id""",
    "dearest": """SELECT id, customer, town, amount FROM sale
        QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount DESC, id, town) <= 2""",
    "second": """SELECT id, town FROM (
        SELECT id, town, DENSE_RANK() OVER (PARTITION BY id ORDER BY town) AS n FROM sale) WHERE n = 2""",
    "first_visits": """SELECT customer, town, day, RANK() OVER (PARTITION BY customer ORDER BY day NULLS LAST) AS n
        FROM visit QUALIFY n <= 3""",
    "numbered": """SELECT day, customer, town, ROW_NUMBER() OVER (ORDER BY day, customer, town) AS n FROM visit
        WHERE day IS NOT NULL""",
    "frequent": """SELECT customer, town, COUNT(*) AS n FROM sale GROUP BY customer, town
        QUALIFY RANK() OVER (PARTITION BY customer ORDER BY COUNT(*) DESC) = 1""",
    "first_country": """SELECT s.id, t.country FROM sale AS s JOIN (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY country) AS n FROM town) AS t
        ON s.town = t.name AND t.n = 1""",
    "counted": "SELECT COUNT(*) AS n FROM sale AS s JOIN parcel AS p ON s.id = p.sale",
    "united_group": "SELECT customer, COUNT(*) AS towns FROM all_towns GROUP BY customer",
    "constants": """SELECT s.id, v.n FROM sale AS s JOIN VALUES (1, 'one'), (2, 'two'), (NULL, 'none') AS v (id, n)
        ON s.customer = v.id""",
    "pinned": """SELECT s.id, v.day FROM sale AS s LEFT JOIN visit AS v
        ON s.customer = v.customer AND v.town = 'Ulm' AND s.town = 'Ulm' AND v.day > DATE '2026-01-03'""",
}
UNBOUNDED = ["grouped", "second", "first_visits", "frequent"]
"""Of a customer or id that is NULL, which is drawn too, they keep ever more until the end."""
DERIVED = {
    "all_towns": ("VIEW", "SELECT customer, town FROM sale UNION SELECT customer, town FROM visit"),
}


def pipeline() -> str:
    streams = (
        f"CREATE STREAM {name} ({columns}, {PROMISES[name]}) FROM FILES {name};"
        for name, columns in STREAMS.items()
    )
    derived = (f"CREATE {kind} {name} AS {query};" for name, (kind, query) in DERIVED.items())
    town = "CREATE TABLE town (name STRING, country STRING) USING csv LOCATION 'town.csv';"
    return "\n".join((*streams, town, *derived, inserts(QUERIES)))


def test_what_is_out_is_contained_in_the_result_and_equals_it_at_the_end(
    spark: SparkSession, tmp_path: Path
) -> None:
    script = Script(spark, tmp_path, pipeline())
    (tmp_path / "town.csv").write_text("".join(f"{name},{country}\n" for name, country in COUNTRIES))
    drawn = {name: stream.slices(rows=40, seed=seed) for seed, (name, stream) in enumerate(DRAWN.items())}
    for slices in zip(*drawn.values(), strict=True):
        script.slice(**dict(zip(drawn, slices, strict=True)))
    town = f"FROM read_csv('{tmp_path}/town.csv', names = ['name', 'country'], header = false)"
    views = (f"CREATE VIEW {name} AS {in_duckdb(query)}" for name, (_, query) in DERIVED.items())
    database = Database(tmp_path, STREAMS, QUERIES, (f"CREATE TABLE town AS {town}", *views))
    wanted = {name: database.wanted(name) for name in QUERIES}
    before_the_end: dict[str, int] = {}
    wrong: list[tuple[int, str, object]] = []
    done: list[Progress] = []

    def contained(progress: Progress) -> None:
        done.append(progress)
        for name in QUERIES:
            found = database.found(name)
            if surplus := Counter(found) - Counter(wanted[name]):
                wrong.append((progress.slice, name, surplus))
            if progress.rows_in:
                before_the_end[name] = len(found)

    assert [each.query.name for each in script.prepared.check() if not each.safe] == UNBOUNDED
    query = script.prepared.start(until_end=True, on_progress=contained, allow_unbounded=True)
    query.awaitTermination()
    assert wrong == [], "\n".join(map(str, wrong))
    for name in QUERIES:
        assert Counter(database.found(name)) == Counter(wanted[name]), name
    assert [row[0] for row in database.found("in_order")] == [row[0] for row in wanted["in_order"]]
    assert [name for name, rows in before_the_end.items() if not rows] == ["counted"]  # one group, of all rows
    assert query.quarantine().collect() == []
    assert done[-1].state_rows == 0
