"""Statistics in files, and how a run comes by them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from caesura.catalog import Traffic
from caesura.checkpoint.canonical import fingerprint
from caesura.checkpoint.manifest import Manifest, Seen, last_manifest
from caesura.checkpoint.storage import LocalStorage
from caesura.diagnostics import CaesuraError, Source
from caesura.diagnostics.code import Code
from caesura.plan import Pipeline
from caesura.planning.choose import chosen, executed
from caesura.planning.statistics import Statistics
from caesura.planning.statistics_json import from_json, read_statistics, to_json
from caesura.safety.tree import Arrangement
from caesura.session import Session
from caesura.spark.compile import Compiled, compile_plans
from caesura.spark.contract import Contract
from caesura.spark.punctuations import kind_of
from caesura.spark.survey import Survey
from caesura.spark.traffic import origins, sent, statistics, stored
from caesura.sql.bind import bind

DECLARED = """
CREATE STREAM orders (id BIGINT, PUNCTUATED BY (id)) USING json LOCATION 'o' OPTIONS (rate 2000, distinct 'id 70');
CREATE STREAM shipment (order_id BIGINT, parcel BIGINT, at TIMESTAMP, PUNCTUATED BY (order_id),
  PUNCTUATED BY (parcel), ORDERED BY (at WITHIN INTERVAL 5 SECONDS)) USING json LOCATION 's';
CREATE STREAM delivery (parcel BIGINT, note STRING, PUNCTUATED BY (parcel)) USING json LOCATION 'd';
"""
JOINED = "orders AS o JOIN shipment AS s ON o.id = s.order_id JOIN delivery AS d ON s.parcel = d.parcel"
SELECTIVE = {
    "orders": {"rate": 2, "distinct": {"id": 2}},
    "shipment": {"rate": 40, "distinct": {"order_id": 40, "parcel": 40}},
    "delivery": {"rate": 20, "distinct": {"parcel": 20}},
}
"""Few shipments meet an order, so that these two are joined first."""


def pipeline(hint: str = "") -> Pipeline:
    return bind(Source("test.sql", f"{DECLARED} SELECT {hint} o.id, d.note FROM {JOINED}"))


def read(folder: Path, text: str) -> Statistics:
    file = folder / "statistics.json"
    file.write_text(text, encoding="utf-8")
    return read_statistics(file, (query.plan for query in pipeline().queries))


# Files


def test_they_are_written_and_read() -> None:
    bid = Traffic(1000.0, (("auction", 5000.0),), (("auction", 50.0),))
    known = Statistics({"bid": bid, "auction": Traffic(), "s": Traffic(2.0)})
    assert from_json(Source("file", to_json(known))) == known


def test_a_file_goes_before_the_declarations(tmp_path: Path) -> None:
    found = read(
        tmp_path, '{"ORDERS": {"rate": 9}, "delivery": {"distinct": {"Parcel": 8}}, "other": {"rate": 1}}'
    )
    assert found == Statistics({"orders": Traffic(9), "delivery": Traffic(None, (("parcel", 8),))})
    known = found.of(pipeline().queries[0].plan)
    assert (known.rate("orders"), known.distinct("orders", "id"), known.distinct("delivery", "parcel")) == (
        9,
        70,
        8,
    )


def test_without_a_file_nothing_is_known() -> None:
    assert read_statistics(None, ()) == Statistics()


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "it is not JSON"),
        ('{"orders": ', "it is not JSON"),
        ("[" * 100_000, "it is nested too deeply"),
        ("[]", "it is not an object"),
        ('{"orders": 5}', "`orders` is not an object"),
        ('{"\\ud800": 5}', "`?` is not an object"),
        ('{"orders": {}, "orders": {}}', "it names `orders` twice"),
        ('{"orders": {"rat": 5}}', "`orders` has `rat`, and may have `rate`, `distinct` and `closes`"),
        ('{"orders": {"distinct": 5}}', "`distinct` of `orders` is not an object"),
        *(
            (f'{{"orders": {{"rate": {number}}}}}', "`rate` of `orders` is not a number from 1e-9 to 1e15")
            for number in ("0", "-1", "true", '"5"', "NaN", "1e300", "1" * 5000)
        ),
        ('{"orders": {"distinct": {"id": null}}}', "`orders.id` is not a number from 1e-9 to 1e15"),
        ('{"orders": {"distinct": {"di": 5}}}', "`orders` has no column `di`; its columns are `id`"),
        (
            '{"bid": {"rate": 5}}',
            "it speaks of `bid`, and the streams that are read are `orders`, `shipment`, `delivery`",
        ),
    ],
    ids=lambda text: text[:30],
)
def test_a_file_that_says_something_else_is_refused(tmp_path: Path, text: str, because: str) -> None:
    with pytest.raises(CaesuraError) as error:
        read(tmp_path, text)
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, diagnostic.because) == (Code.STATISTICS, (because,))
    assert diagnostic.help


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaesuraError) as error:
        Session().sql(f"{DECLARED} SELECT id FROM orders").start(statistics=tmp_path / "none.json")
    assert error.value.diagnostics[0].code == Code.NO_FILE


# Choices


def test_what_a_file_says_changes_the_tree(tmp_path: Path) -> None:
    selective = read(tmp_path, json.dumps(SELECTIVE))
    assert chosen(pipeline()) == ((Arrangement((0, (1, 2))),),)
    assert chosen(pipeline(), selective) == ((Arrangement(((0, 1), 2)),),)
    assert chosen(pipeline("/*+ MJOIN, NO_DEMAND */"), selective) == ((None,),)


def test_a_tree_is_no_part_of_what_a_pipeline_means(tmp_path: Path) -> None:
    trees = chosen(pipeline(), read(tmp_path, json.dumps(SELECTIVE)))
    (query,), (arranged,) = pipeline().queries, executed(pipeline(), trees).queries
    assert query.plan != arranged.plan
    more = pipeline().source.text.replace("rate 2000", "rate 2")
    (other,) = bind(Source("test.sql", more)).queries
    catalog = pipeline().catalog
    assert fingerprint(other, catalog) == fingerprint(query, catalog)


# Measuring


def compiled(hint: str = "/*+ MJOIN */") -> Compiled:
    asked = pipeline(hint)
    return compile_plans(tuple(query.plan for query in executed(asked, chosen(asked)).queries))


def test_the_values_of_columns_that_joins_compare_are_counted() -> None:
    assert origins(compiled()) == {
        "join: o": {"o.id": ("orders", "id")},
        "join: s": {"s.order_id": ("shipment", "order_id"), "s.parcel": ("shipment", "parcel")},
        "join: d": {"d.parcel": ("delivery", "parcel")},
    }


def test_in_a_tree_they_are_counted_in_every_join_that_stores_them() -> None:
    """Not where a sub-join has made two of them equal, which each input may have more of."""
    found = origins(compiled("/*+ TREE((o, s), d) */"))
    places = [table for table, columns in found.items() if ("shipment", "parcel") in columns.values()]
    assert places == ["join: s", "join 2: input 1"]
    assert found["join 2: input 1"] == {"s.parcel": ("shipment", "parcel")}


def test_open_values_are_the_mean_of_what_was_left() -> None:
    where = origins(compiled("/*+ TREE((o, s), d) */"))
    seen: dict[str, Seen] = {}
    for lower, upper in ((10, 4), (20, 30), (0, 0)):
        found = {"join: s": {"s.parcel": lower, "s.order_id": 0}, "join 2: input 1": {"s.parcel": upper}}
        seen = stored(seen, where, found)
    assert statistics(seen) == Statistics({"shipment": Traffic(None, (("parcel", 20.0),))})


SECOND = 1_000_000


def contracts(*names: str) -> dict[str, Contract]:
    made = compiled()
    return {name: Contract(made.streams[name], made.stores[name]) for name in names}


def brought(rows: int, newest: int | None = None, oldest: int | None = None) -> Survey:
    """The bound of `shipment` is five seconds behind its newest row."""
    time = None if newest is None else (newest - 5) * SECOND
    return Survey(rows=rows, admitted=rows, time=time, oldest=None if oldest is None else oldest * SECOND)


def test_a_stream_with_a_time_is_measured_by_it_and_the_others_with_it() -> None:
    several, seen = contracts("orders", "shipment"), dict[str, Seen]()
    seen = sent(seen, several, {"orders": brought(5)}, 0)
    assert seen == {}  # nothing has said what time it is
    seen = sent(seen, several, {"orders": brought(5), "shipment": brought(101, newest=110, oldest=100)}, 1)
    assert statistics(seen) == Statistics({"shipment": Traffic(10.0)})
    seen = sent(seen, several, {"orders": brought(20), "shipment": brought(100, newest=120)}, 2)
    assert statistics(seen) == Statistics({"shipment": Traffic(10.0), "orders": Traffic(2.0)})
    seen = sent(seen, several, {"orders": brought(0), "shipment": brought(0)}, 900 * SECOND)
    assert statistics(seen) == Statistics({"shipment": Traffic(10.0), "orders": Traffic(2.0)})


def test_where_no_stream_has_a_time_they_are_measured_by_when_slices_come() -> None:
    several, seen = contracts("orders"), dict[str, Seen]()
    for second, rows in ((10, 1000), (11, 30), (20, 0), (30, 70)):
        seen = sent(seen, several, {"orders": brought(rows)}, second * SECOND)
    assert statistics(seen) == Statistics({"orders": Traffic(5.0)})


def test_values_that_the_source_closes_are_counted() -> None:
    """By the same clock as rows, and in slices without rows."""
    several, seen = contracts("orders", "shipment"), dict[str, Seen]()

    def closing(found: Survey, number: int) -> Survey:
        return replace(found, plain={"id": number, "order_id": number}, kinds={kind_of(("order_id",)): 1})

    for newest, rows, number in ((110, 101, 49), (115, 0, 19), (120, 100, 29)):
        shipment = brought(rows, newest, 100) if rows else Survey()
        seen = sent(seen, several, {"orders": closing(brought(9), 5), "shipment": closing(shipment, number)}, 1)
    assert statistics(seen).streams["shipment"].closes == (("order_id", 5.0),)
    assert statistics(seen).streams["orders"].closes == (("id", 1.0),)


def test_rows_that_break_a_promise_do_not_count() -> None:
    several = contracts("orders")
    seen = sent({}, several, {"orders": Survey(rows=9, admitted=3)}, 0)
    seen = sent(seen, several, {"orders": Survey(rows=9, admitted=7, repeated=2)}, SECOND)
    assert statistics(seen) == Statistics({"orders": Traffic(5.0)})


def test_they_are_kept_over_a_restart(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    manifest = Manifest(slice=1, seen={"s": Seen(5, 1, 2, {"a": (3, 30)}, {"a": 4}), "t": Seen()})
    storage.make("manifests")
    storage.write(manifest.to_json(), "manifests", "0000000001.json")
    assert last_manifest(storage) == manifest
