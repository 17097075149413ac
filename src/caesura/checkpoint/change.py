"""What differs between the pipeline that a checkpoint was made with and one that is to go on there."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from sqlglot import exp

from caesura.diagnostics import CaesuraError, Source
from caesura.sql.parse import Statement, lines_of, parse
from caesura.sql.syntax import Declaration


def differences(before: str, now: str) -> Iterator[str]:
    """Statement by statement, and in each line by line; of texts that can be read."""
    try:
        earlier, later = _statements(before), _statements(now)
    except CaesuraError:
        return
    for name in dict.fromkeys((*earlier, *later)):
        if name not in later:
            yield f"{name} is missing"
        elif name not in earlier:
            yield f"{name} is new"
        elif earlier[name] != later[name]:
            changes = unified_diff(earlier[name], later[name], n=0, lineterm="")
            lines = (line for line in changes if not line.startswith(("---", "+++", "@@")))
            yield "\n".join((f"{name} was changed:", *(f"  {line[0]} {line[1:]}" for line in lines)))


def _statements(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for statement in parse(Source("", text)):
        name = _name(statement)
        number = 2
        while name in found:
            name, number = f"{_name(statement)}, the {number}.", number + 1
        found[name] = lines_of(statement.span)
    return found


def _name(statement: Statement) -> str:
    match statement.tree:
        case Declaration() as tree:
            return f"{str(tree.args['kind']).lower()} `{tree.name}`"
        case exp.Insert() as tree:
            return f"INSERT INTO `{tree.this.name}`"
    return "SELECT"
