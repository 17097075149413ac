"""Files by Hadoop's client behave as local ones do."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from caesura.checkpoint.lease import Lease
from caesura.checkpoint.storage import LocalStorage, Storage
from caesura.diagnostics import CaesuraError
from caesura.spark.run import work_session
from caesura.spark.storage import HadoopStorage


@pytest.fixture(params=["local", "hadoop"])
def storage(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Storage:
    if request.param == "local":
        return LocalStorage(str(tmp_path))
    session = work_session(spark)
    path = session._jvm.org.apache.hadoop.fs.Path(str(tmp_path))  # type: ignore[union-attr]
    files = path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
    return HadoopStorage(session, str(tmp_path), files)


def test_files(storage: Storage) -> None:
    storage.make("a", "b")
    storage.write("one", "a", "x")
    storage.write("two, which is longer", "a", "x")
    assert storage.read("a", "x") == b"two, which is longer"
    assert storage.names("a") == ["b", "x"]
    assert storage.names("nothing") == []
    assert storage.exists("a", "x")
    assert not storage.exists("a", "y")
    assert not storage.create("three", "a", "x")
    assert storage.create("three", "a", "y")
    file = storage.file("a", "y")
    assert file is not None
    assert (file.name, file.bytes) == ("y", 5)
    assert storage.file("a", "z") is None
    storage.move(("a", "y"), ("a", "b", "z"))
    assert storage.read("a", "b", "z") == b"three"
    storage.delete("a", "b")
    storage.delete("a", "nothing")
    assert storage.names("a") == ["x"]
    with pytest.raises(OSError):  # noqa: PT011 - each file system has its own words
        storage.move(("a", "gone"), ("a", "there"))


def test_leases(storage: Storage) -> None:
    first = Lease.take(storage, "it")
    with pytest.raises(CaesuraError):
        Lease.take(storage, "it")
    second = Lease.take(storage, "it", anyway=True)
    with pytest.raises(CaesuraError):
        first.require()
    second.require()
    first.release()
    second.require()
    second.release()
    Lease.take(storage, "it").release()
