"""`caesura state`: what a checkpoint holds, as text and as JSON, without a JVM."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from caesura.checkpoint.lease import Lease
from caesura.checkpoint.manifest import Manifest, Part, Promised, TableVersion, commit
from caesura.checkpoint.storage import File, LocalStorage
from caesura.checkpoint.tables import TableFiles, keep_tables
from caesura.cli import main

MANIFEST = Manifest(
    12,
    {
        "join: bid": TableVersion(Part(9, 3, (File("p", 700, 1),)), (Part(12, 1, (File("q", 90, 2),)),)),
        "join: auction": TableVersion(Part(12, 0)),
        "bid: closed(auction)": TableVersion(Part(12, 2), spans=(("1", "5"), ("7", "7"))),
    },
    {"bid": Promised({"at": "2026-01-01"}), "auction": Promised(everything=True)},
    {"bid": {"the row cannot be parsed": 4}},
    examples={"bid": {"the row cannot be parsed": ("the row cannot be parsed: `price`: 'NA' is no DOUBLE: {…}",)}},
)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(str(tmp_path / "ck"))
    storage.make("manifests")
    storage.make("desk")
    commit(storage, MANIFEST, ("desk",))
    kinds = {name: "punctuations" if "closed" in name else "rows" for name in MANIFEST.tables}
    keep_tables(storage, {name: TableFiles("table=0", kind, "k INT", {"k": "k"}) for name, kind in kinds.items()})  # type: ignore[arg-type]
    return storage


def state(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["state", *arguments])


def test_what_there_is_for_people(storage: LocalStorage) -> None:
    result = state(storage.root)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{storage.root}: committed up to slice 12",
        "state: 4 rows in 1 table, 1 empty",
        "  join: bid: 4 rows, 790 bytes, since slice 9",
        "punctuations: 2 rows in 1 table",
        "  bid: closed(auction): 2 rows, in the manifest, since slice 12",
        "stream bid: at up to 2026-01-01",
        "stream auction: ended",
        "quarantine: 4 rows",
        "  4 of bid: the row cannot be parsed",
        "    the row cannot be parsed: `price`: 'NA' is no DOUBLE: {…}",
    ]


def test_no_spark_is_needed(storage: LocalStorage) -> None:
    code = (
        "import sys; from caesura.cli import main;"
        "main(['state', sys.argv[1]], standalone_mode=False);"
        "sys.exit('pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, storage.root], check=False).returncode == 0


def test_what_there_is_for_programs(storage: LocalStorage) -> None:
    found = json.loads(state(storage.root, "--json").stdout)
    assert (found["slice"], found["ended"], found["in_use"]) == (12, False, None)
    assert found["tables"][0] == {
        "name": "join: bid",
        "holds": "rows",
        "rows": 4,
        "bytes": 790,
        "files": 2,
        "oldest": 9,
    }
    assert found["quarantine"][0]["rows"] == 4


def test_who_writes_to_it_is_said(storage: LocalStorage) -> None:
    lease = Lease.take(storage, "it")
    assert "in use: process " in state(storage.root).stdout
    lease.release()


def test_before_the_first_slice(tmp_path: Path) -> None:
    (tmp_path / "manifests").mkdir()
    assert state(str(tmp_path)).stdout.startswith(f"{tmp_path}: no slice was committed yet")


@pytest.mark.parametrize("what", ["nothing", "a file", "an empty folder"])
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, what: str) -> None:
    place = tmp_path / "x"
    if what == "a file":
        place.write_text("x")
    elif what == "an empty folder":
        place.mkdir()
    result = state(str(place))
    assert result.exit_code == 2
    assert "CAE0506" in result.stderr


@pytest.mark.parametrize("name", ["manifests/0000000012.json", "tables.json"])
@pytest.mark.parametrize("text", ["", "{", '{"caesura": "manifest"}', "\x00"])
def test_damage_is_named_and_no_traceback(storage: LocalStorage, name: str, text: str) -> None:
    Path(storage.path(name)).write_text(text)
    result = state(storage.root)
    assert result.exit_code == 2
    assert "CAE0510" in result.stderr
    assert name in result.stderr


def test_manifests_that_are_gone_are_missed(storage: LocalStorage) -> None:
    storage.write("{}", "pipeline.json")
    storage.make("spark", "commits")
    storage.write("{}", "spark", "commits", "12")
    storage.delete("manifests")
    result = state(storage.root)
    assert result.exit_code == 2
    assert "CAE0510" in result.stderr


def test_a_folder_may_be_named_as_a_url(storage: LocalStorage) -> None:
    assert (
        state(f"file:{storage.root}").stdout
        == state(f"file://{storage.root}").stdout
        == state(storage.root).stdout
    )
