"""Texts that can be kept and shown: what is nobody else's business is not in them."""

from __future__ import annotations

import re

from sqlglot import exp

from caesura.diagnostics import Source
from caesura.sql.parse import lines_of, parse
from caesura.sql.spans import extent
from caesura.sql.syntax import Declaration

_SECRET = re.compile(r"passw|passphrase|pwd|secret|token|credential|jaas|private|api.?key|\.key$", re.IGNORECASE)
_URL = re.compile(r"^(?P<scheme>[a-z0-9+.:-]+://)(?:[^/@]*@)?(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)
_PARAMETER = re.compile(r"(?P<mark>[?&;])(?P<name>[^=&;?]+)=(?P<value>[^&;]*)")


def is_secret(option: str) -> bool:
    return _SECRET.search(option) is not None


def masked(option: str, value: str) -> str:
    """The value of an option, without what it says about who may."""
    if is_secret(option):
        return ""
    found = _URL.match(value)
    if found is not None:
        value = found["scheme"] + found["rest"]
    return _PARAMETER.sub(_without_secret, value) if found is not None or value.startswith("jdbc:") else value


def _without_secret(parameter: re.Match[str]) -> str:
    name = parameter["name"]
    return "" if is_secret(name) or name.lower() == "user" else parameter[0]


def without_secrets(source: Source) -> str:
    """The statements of a text, without comments."""
    text = source.text
    for statement in reversed(parse(source)):
        if isinstance(statement.tree, Declaration):
            for start, end, kept in reversed(_hidden(statement.tree)):
                text = text[:start] + kept + text[end:]
    statements = parse(Source(source.name, text))
    return "".join("\n".join(lines_of(statement.span)) + ";\n" for statement in statements)


def _hidden(tree: Declaration) -> list[tuple[int, int, str]]:
    """Options and locations that have something to hide: from where to where, and what remains."""
    found: list[tuple[int, int, str]] = []
    for pair in tree.args.get("options") or ():
        value = pair.text("value")
        if (kept := masked(pair.name, value)) != value and (place := extent(pair)) is not None:
            found.append((*place, f"{_quoted(pair.name)} {_quoted(kept)}"))
    location = tree.args.get("location")
    for literal in location.find_all(exp.Literal) if location is not None else ():
        if (kept := masked("", literal.name)) != literal.name and (place := extent(literal)) is not None:
            found.append((*place, _quoted(kept)))
    return sorted(found)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
