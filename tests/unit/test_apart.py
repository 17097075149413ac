"""Which folders Spark finds the files of when it reads another."""

from __future__ import annotations

from pathlib import Path

import pytest

from caesura.spark.apart import reaches


@pytest.mark.parametrize(
    ("folder", "other", "found"),
    [
        ("/data/a", "/data/a", True),
        ("/data/a", "/data/a/", True),
        ("/data", "/data/a/b", True),
        ("/data/a", "/data/b/../a/c", True),
        ("/data/a", "/data/ab", False),
        ("/data/a", "/data", False),
        ("/data/a", "/data/a/_checkpoint/state", False),
        ("hdfs://one/a", "hdfs://one/a/b", True),
        ("hdfs://one/a", "hdfs://two/a/b", False),
        ("/a", "hdfs://one/a", False),
    ],
)
def test_a_folder_is_read_with_those_in_it_but_hidden_ones(folder: str, other: str, found: bool) -> None:
    assert reaches(folder, other) is found


def test_by_another_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert reaches(str(tmp_path / "real"), str(tmp_path / "link" / "a"))
