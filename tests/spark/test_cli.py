"""The commands: what they print, their exit status, and that `check` needs no Java."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from caesura.cli import main

STREAMS = """
CREATE STREAM auction (id BIGINT, seller BIGINT, UNIQUE (id)) USING json LOCATION 'auction';
CREATE STREAM bid (auction BIGINT, price DOUBLE{promise}) USING json LOCATION 'bid';
"""
JOIN = "SELECT a.id, b.price FROM auction AS a JOIN bid AS b ON a.id = b.auction;\n"
SAFE = STREAMS.format(promise=", PUNCTUATED BY (auction)") + JOIN
UNSAFE = STREAMS.format(promise="") + JOIN
UNBOUND = SAFE.replace("b.price", "b.prize")


def written(folder: Path, text: str) -> str:
    file = folder / "pipeline.sql"
    file.write_text(text, encoding="utf-8")
    return str(file)


def without_java(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, where no Java can be found."""
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "PATH")}
    watched = (
        "import sys; from caesura.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: assert 'pyspark' not in sys.modules, 'check loads Spark'"
    )
    command = [sys.executable, "-c", watched, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("text", "status"), [(SAFE, 0), (UNSAFE, 1), (UNBOUND, 2)], ids=["safe", "unsafe", "unbound"]
)
def test_check_starts_no_jvm_and_its_status_is_the_verdict(tmp_path: Path, text: str, status: int) -> None:
    done = without_java("check", written(tmp_path, text))
    assert done.returncode == status, done.stderr
    assert "check loads Spark" not in done.stderr
    if status == 0:
        assert "select_1: safe" in done.stdout
        assert done.stderr == ""
    else:
        code = {1: "error[CAE0102]", 2: "error[CAE0202]"}[status]
        assert code in done.stderr
        assert "pipeline.sql:" in done.stderr


def test_a_file_that_is_not_there_is_status_2(tmp_path: Path) -> None:
    for command in ("check", "run"):
        result = invoke(command, str(tmp_path / "none.sql"))
        assert result.exit_code == 2
        assert "CAE0004" in result.stderr


def test_check_prints_the_json_that_the_language_fixes(tmp_path: Path) -> None:
    result = invoke("check", "--json", written(tmp_path, UNSAFE))
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report.keys() == {"queries"}
    (query,) = report["queries"]
    assert query.keys() == {"name", "span", "verdict", "states", "blocked", "repairs"}
    assert (query["name"], query["verdict"]) == ("select_1", "unsafe")
    for state in query["states"]:
        assert state.keys() == {"operator", "input", "bounded", "by", "because"}
        assert state["bounded"] == (state["by"] is not None)
        assert state["by"] in ("punctuation", "window", "synopsis", "static", "stateless", None)
    assert [(state["input"], state["bounded"]) for state in query["states"]] == [("a", False), ("b", True)]
    assert query["blocked"] == []
    assert [{"stream": "bid", "add": "PUNCTUATED BY (auction)"}] in query["repairs"]


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_run_prints_the_rows_and_ends_with_status_0(spark: SparkSession, tmp_path: Path) -> None:
    for name, lines in {
        "auction": ['{"id": 1, "seller": 7}'],
        "bid": ['{"auction": 1, "price": 5.0}', '{"_punctuation": "{\\"auction\\": 1}"}', '{"_punctuation": "{"}'],
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "0.json").write_text("\n".join(lines) + "\n")
    file, checkpoint = written(tmp_path, SAFE), str(tmp_path / "checkpoint")
    result = invoke("run", file, "--until-end", "--eager-rows", "0", "--checkpoint", checkpoint)
    assert result.exit_code == 0, result.stderr
    assert "select_1, slice 0: 1 row" in result.stdout
    assert "|  1|  5.0|" in result.stdout
    assert "slice 0 · 2 rows in · 1 out" in result.stderr
    assert f"1 quarantined: {checkpoint}" in result.stderr
    again = invoke("run", file, "--until-end", "--checkpoint", checkpoint)
    assert again.exit_code == 0
    assert "nothing to do" in again.stderr


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        (UNSAFE, 1, "CAE0102"),
        (UNBOUND, 2, "CAE0202"),
        (SAFE, 1, "CAE0502"),
    ],
    ids=["unsafe", "unbound", "no data"],
)
def test_run_that_cannot_start_says_why(
    spark: SparkSession, tmp_path: Path, text: str, status: int, code: str
) -> None:
    result = invoke("run", written(tmp_path, text), "--until-end")
    assert result.exit_code == status
    assert f"error[{code}]" in result.stderr


def test_explain_run_shows_what_let_go_of_rows(spark: SparkSession, tmp_path: Path) -> None:
    """The results are not delivered."""
    lines = {
        "auction": ['{"id": 1}', '{"id": 2}'],
        "bid": ['{"auction": 1, "price": 5.0}', '{"_punctuation": "{\\"auction\\": 1}"}'],
    }
    for name, several in lines.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "0.json").write_text("\n".join(several) + "\n")
    measured = tmp_path / "measured.json"
    result = invoke("explain", written(tmp_path, SAFE), "--run", "--measure", str(measured))
    assert result.exit_code == 0, result.stderr
    assert "run: 2 slices, 3 rows in, 1 out" in result.stdout
    assert "join: b: at most 0, 0 at the end; released: 1 on arrival" in result.stdout
    assert "auction: 1 open values of id" in result.stdout
    assert json.loads(measured.read_text()) == {"auction": {"distinct": {"id": 1}}}


CHAIN = """
CREATE STREAM s1 (a BIGINT, PUNCTUATED BY (a)) USING json LOCATION 's1';
CREATE STREAM s2 (a BIGINT, b BIGINT, PUNCTUATED BY (a), PUNCTUATED BY (b)) USING json LOCATION 's2';
CREATE STREAM s3 (b BIGINT, PUNCTUATED BY (b)) USING json LOCATION 's3';
SELECT s1.a FROM s1 JOIN s2 ON s1.a = s2.a JOIN s3 ON s2.b = s3.b;
"""


def test_explain_shows_what_is_chosen_by_statistics(tmp_path: Path) -> None:
    file, statistics = written(tmp_path, CHAIN), tmp_path / "statistics.json"
    statistics.write_text('{"s1": {"rate": 10, "distinct": {"a": 20}}, "s2": {"distinct": {"a": 5000}}}')
    assert "join: (s1, s2, s3), which stores least" in invoke("explain", file).stdout
    result = invoke("explain", file, "--statistics", str(statistics))
    assert "join: ((s1, s2), s3), which touches least" in result.stdout


@pytest.mark.parametrize("command", ["explain", "run"])
def test_statistics_that_cannot_be_used_are_status_2(tmp_path: Path, command: str) -> None:
    file, statistics = written(tmp_path, CHAIN), tmp_path / "statistics.json"
    for text, code in ((None, "CAE0004"), ('{"s1": {"rate": "often"}}', "CAE0509"), ("{", "CAE0509")):
        if text is not None:
            statistics.write_text(text)
        result = invoke(command, file, "--statistics", str(statistics))
        assert result.exit_code == 2
        assert f"error[{code}]" in result.stderr
