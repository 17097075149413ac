"""The files of a checkpoint, without Spark: sealed, found damaged, held by one writer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from caesura.checkpoint import lease as lease_module
from caesura.checkpoint.lease import Holder, Lease
from caesura.checkpoint.manifest import (
    Manifest,
    Part,
    Promised,
    Result,
    Seen,
    TableVersion,
    commit,
    forget_manifest,
    forget_manifests,
    last_manifest,
)
from caesura.checkpoint.sealed import FORMAT, seal
from caesura.checkpoint.storage import File, LocalStorage, files_of
from caesura.checkpoint.verify import forget_plans, require, require_log, require_state, spark_log
from caesura.diagnostics import CaesuraError
from caesura.diagnostics.code import Code

FULL = Manifest(
    7,
    {
        "a": TableVersion(Part(3, 2, (File("x", 1, 2),)), (Part(5, 1, (File("y", 3, 4),)), Part(6, 0))),
        "b": TableVersion(Part(7, 1), spans=(("1", None),), ranges={"c": (1, 2)}),
    },
    {"s": Promised({"t": "5"}, time=3)},
    {"s": {"late": 2}},
    {"a": {"window": 1}},
    {"s": Seen(5, 1, 2, {"a": (3, 30)}, {"a": 4})},
    "someone",
    ("0000000003-someone",),
    ended=True,
    results={"q": Result(4, (File("z", 9, 8),)), "r": Result()},
    log={"spark/offsets/7": File("7", 10, 11)},
)


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(str(tmp_path / "ck"))
    storage.make("manifests")
    storage.make("desk")
    return storage


def code_of(refused: Callable[[], object]) -> str:
    with pytest.raises(CaesuraError) as failure:
        refused()
    (diagnostic,) = failure.value.diagnostics
    assert diagnostic.because
    assert diagnostic.help
    return diagnostic.code


def test_a_manifest_is_read_as_it_was_written(storage: LocalStorage) -> None:
    commit(storage, FULL, ("desk",))
    assert last_manifest(storage) == FULL


def test_the_last_two_manifests_are_kept(storage: LocalStorage) -> None:
    for slice in (0, 1, 2, 3):
        commit(storage, Manifest(slice), ("desk",))
        forget_manifest(storage, slice - 2)
    assert storage.names("manifests") == ["0000000002.json", "0000000003.json"]


def test_manifests_that_a_killed_process_left_go_at_the_next_start(storage: LocalStorage) -> None:
    for slice in (0, 1, 5):
        storage.write(Manifest(slice).to_json(), "manifests", f"{slice:010d}.json")
    forget_manifests(storage, last_manifest(storage))
    assert storage.names("manifests") == ["0000000005.json"]


def test_names_that_are_not_ours_are_left_alone(storage: LocalStorage) -> None:
    commit(storage, FULL, ("desk",))
    for stray in (
        "notes.json",
        "copy of 0000000009.json",
        "0000000009.json.bak",
        "12.json",
        ".0000000009.json.tmp",
    ):
        storage.write("?", "manifests", stray)
    assert last_manifest(storage) == FULL


@pytest.mark.parametrize("size", [0, 1, 40, -1])
def test_a_truncated_manifest_is_damage(storage: LocalStorage, size: int) -> None:
    text = FULL.to_json()
    storage.write(text[:size], "manifests", "0000000007.json")
    assert code_of(lambda: last_manifest(storage)) == Code.DAMAGED


def test_a_byte_that_was_changed_anywhere_in_a_manifest_is_seen(storage: LocalStorage) -> None:
    """Or it changes nothing: a space, or how a character is written."""
    text = FULL.to_json()
    for at in range(len(text)):
        changed = text[:at] + ("x" if text[at] != "x" else "y") + text[at + 1 :]
        storage.write(changed, "manifests", "0000000007.json")
        with suppress(CaesuraError):
            assert last_manifest(storage) == FULL


def test_an_older_manifest_under_a_newer_name_is_damage(storage: LocalStorage) -> None:
    storage.write(FULL.to_json(), "manifests", "0000000008.json")
    assert code_of(lambda: last_manifest(storage)) == Code.DAMAGED


@pytest.mark.parametrize("content", [[], {}, {"slice": 1}, None, 5, {"slice": 1, "tables": []}])
def test_what_is_sealed_but_no_manifest_is_damage(storage: LocalStorage, content: object) -> None:
    storage.write(seal("manifest", content), "manifests", "0000000001.json")
    assert code_of(lambda: last_manifest(storage)) == Code.DAMAGED


@pytest.mark.parametrize("text", ["[]", "null", "{}", '{"caesura": "pipeline"}', "\x00", '{"a": '])
def test_what_is_not_sealed_is_damage(storage: LocalStorage, text: str) -> None:
    storage.write(text, "manifests", "0000000001.json")
    assert code_of(lambda: last_manifest(storage)) == Code.DAMAGED


def test_another_format_is_named(storage: LocalStorage) -> None:
    other = json.loads(seal("manifest", {})) | {"format": FORMAT + 1}
    storage.write(json.dumps(other), "manifests", "0000000001.json")
    assert code_of(lambda: last_manifest(storage)) == Code.OTHER_FORMAT


# Files


def test_a_file_is_known_by_its_bytes(storage: LocalStorage) -> None:
    storage.make("f")
    storage.write("hello", "f", "part-1")
    storage.write("?", "f", "_SUCCESS")
    (file,) = files_of(storage, "f")
    assert (file.name, file.bytes) == ("part-1", 5)
    require(storage, file, "f", "part-1")
    storage.write("hellO", "f", "part-1")
    assert code_of(lambda: require(storage, file, "f", "part-1")) == Code.DAMAGED
    storage.delete("f", "part-1")
    assert code_of(lambda: require(storage, file, "f", "part-1")) == Code.DAMAGED


def noted(storage: LocalStorage, *names: str) -> None:
    for name in names:
        *folder, last = name.split("/")
        storage.make(*folder)
        storage.write(f'{name} {{"batchId": 0}}', *folder, last)


def test_of_sparks_log_all_since_the_last_compaction_is_noted(storage: LocalStorage) -> None:
    noted(storage, "spark/offsets/10", "spark/offsets/9", "spark/commits/9", "spark/metadata")
    noted(storage, *(f"spark/sources/0/{n}" for n in ("8", "9.compact", "10", "11")), "spark/sources/1/0")
    log = spark_log(storage, Manifest(), 10)
    assert set(log) == {
        "spark/metadata",
        "spark/offsets/10",
        "spark/sources/0/11",
        "spark/sources/0/10",
        "spark/sources/0/9.compact",
        "spark/sources/1/0",
    }


def test_plans_that_nothing_came_of_are_forgotten(storage: LocalStorage) -> None:
    noted(storage, "spark/offsets/3", "spark/commits/2", "spark/sources/0/1", "spark/sources/0/2")
    last = Manifest(3, log=spark_log(storage, Manifest(), 3))
    noted(storage, "spark/offsets/4", "spark/sources/0/3")
    require_log(storage, last)
    forget_plans(storage, last)
    assert storage.names("spark", "offsets") == ["3"]
    assert storage.names("spark", "sources", "0") == ["1", "2"]


@pytest.mark.parametrize("lost", ["spark", "spark/offsets", "spark/sources/0/2", "spark/offsets/3"])
def test_without_sparks_notes_a_run_does_not_go_on(storage: LocalStorage, lost: str) -> None:
    noted(storage, "spark/offsets/3", "spark/commits/2", "spark/sources/0/2")
    last = Manifest(3, log=spark_log(storage, Manifest(), 3))
    storage.delete(*lost.split("/"))
    assert code_of(lambda: require_log(storage, last)) == Code.DAMAGED


def test_where_a_source_that_is_no_files_began_is_no_plan(storage: LocalStorage) -> None:
    storage.make("spark", "sources", "0")
    storage.write('v1\n{"topic":{"0":5}}', "spark", "sources", "0", "0")
    forget_plans(storage, Manifest())
    assert storage.names("spark", "sources", "0") == ["0"]


@pytest.mark.parametrize("last", [Manifest(), Manifest(4)])
def test_a_manifest_that_is_missing_is_missed(storage: LocalStorage, last: Manifest) -> None:
    noted(storage, "spark/offsets/5", "spark/commits/5")
    assert code_of(lambda: require_log(storage, last)) == Code.DAMAGED


def test_each_part_of_a_table_is_looked_at(storage: LocalStorage) -> None:
    parts = []
    for slice in (3, 5):
        part = Part(slice, 1, (), "me")
        storage.make("state", part.folder, "table=0")
        storage.write("x", "state", part.folder, "table=0", "p")
        parts.append(replace(part, files=files_of(storage, "state", part.folder, "table=0")))
    last = Manifest(5, {"t": TableVersion(parts[0], (parts[1],))})
    require_state(storage, {"t": "table=0"}, last)
    storage.write("y", "state", parts[1].folder, "table=0", "p")
    assert code_of(lambda: require_state(storage, {"t": "table=0"}, last)) == Code.DAMAGED


# One writer


def taken(storage: LocalStorage, *, anyway: bool = False) -> Lease:
    return Lease.take(storage, "it", anyway=anyway)


def test_a_lease_is_held_by_one_and_leaves_nothing(storage: LocalStorage) -> None:
    first = taken(storage)
    assert code_of(lambda: taken(storage)) == Code.IN_USE
    first.require()
    first.release()
    assert not storage.exists("lease")
    taken(storage).release()


def test_who_holds_it_is_named(storage: LocalStorage) -> None:
    taken(storage)
    with pytest.raises(CaesuraError) as failure:
        taken(storage)
    (because,) = failure.value.diagnostics[0].because
    assert because.startswith(f"process {Holder.me().pid} of ")


def test_who_has_lost_it_cannot_commit(storage: LocalStorage) -> None:
    first = taken(storage)
    second = taken(storage, anyway=True)
    assert code_of(first.require) == Code.IN_USE
    with pytest.raises(FileNotFoundError):
        commit(storage, FULL, first.desk)
    assert last_manifest(storage) == Manifest()
    commit(storage, FULL, second.desk)
    assert last_manifest(storage) == FULL
    first.release()
    second.require()


def test_a_manifest_on_a_desk_that_was_cleared_is_not_moved(storage: LocalStorage) -> None:
    """The writer has checked its lease, and sleeps between writing and moving."""
    first = taken(storage)
    storage.write(FULL.to_json(), *first.desk, "m")
    taken(storage, anyway=True)
    with pytest.raises(FileNotFoundError):
        storage.move((*first.desk, "m"), ("manifests", "0000000007.json"))


def test_the_lease_of_a_process_that_was_killed_is_taken_at_once(tmp_path: Path) -> None:
    code = (
        "import os, sys; from caesura.checkpoint.lease import Lease;"
        "from caesura.checkpoint.storage import LocalStorage;"
        "Lease.take(LocalStorage(sys.argv[1]), 'it'); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == -9
    lease = taken(LocalStorage(str(tmp_path)))
    lease.require()
    assert len(list((tmp_path / "lease").iterdir())) == 2  # of the one before nothing is left


def test_nothing_heard_for_a_minute_is_gone(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    me = Holder.me()
    elsewhere = replace(me, host="elsewhere")
    monkeypatch.setattr(Holder, "me", lambda: elsewhere)
    taken(storage)
    monkeypatch.setattr(Holder, "me", lambda: me)
    assert code_of(lambda: taken(storage)) == Code.IN_USE
    monkeypatch.setattr(lease_module, "time", lambda: me.seen + 61)
    taken(storage)


def test_a_holder_that_says_that_it_is_there_keeps_it(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_module, "_SIGN_EVERY", 0.01)
    me = Holder.me()
    monkeypatch.setattr(Holder, "me", lambda: replace(me, host="elsewhere", seen=me.seen - 1000))
    lease = taken(storage)
    while not storage.exists(*lease.desk, "seen"):
        pass
    monkeypatch.setattr(Holder, "me", lambda: me)
    assert code_of(lambda: taken(storage)) == Code.IN_USE
    lease.release()


@pytest.mark.parametrize("text", ["", "{", "[]", seal("lease", {"pid": 1})])
def test_a_lease_that_cannot_be_read_has_to_be_taken_over(storage: LocalStorage, text: str) -> None:
    storage.make("lease")
    storage.write(text, "lease", "holder.json")
    assert code_of(lambda: taken(storage)) == Code.IN_USE
    taken(storage, anyway=True).require()
