"""`--share FOLDER`: processes that are given the same one run each file of tests once between them."""

from __future__ import annotations

from itertools import chain, groupby, pairwise
from operator import attrgetter
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", type=Path, help="where processes that run the tests together note what is taken")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Pytest's own loop, but over the files that are still free when their turn comes. Those that take Spark come
    first, and the others, which take seconds, let the processes end at the same time."""
    folder: Path | None = session.config.getoption("share")
    if folder is None or session.testsfailed or session.config.option.collectonly:
        return None
    in_turn = sorted(session.items, key=lambda item: "spark" not in item.path.parts)
    files = groupby(in_turn, key=attrgetter("path"))
    mine = (item for path, items in files if is_free(folder, path) for item in items)
    for item, following in pairwise(chain(mine, (None,))):
        assert item is not None
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    return True


def is_free(folder: Path, path: Path) -> bool:
    """Only one process makes the file, and so takes the tests."""
    try:
        (folder / "-".join(path.parts[1:])).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
