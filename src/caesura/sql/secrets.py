"""Texts that can be kept: options of which a value may be nobody else's business have none."""

from __future__ import annotations

import re

from caesura.diagnostics import Source
from caesura.sql.parse import parse
from caesura.sql.spans import extent
from caesura.sql.syntax import Declaration

_SECRET = re.compile("password|secret|token|credential|jaas", re.IGNORECASE)


def is_secret(option: str) -> bool:
    return _SECRET.search(option) is not None


def without_secrets(source: Source) -> str:
    """Options of sinks go altogether: the URL of a database may have a password in it."""
    text = source.text
    for statement in reversed(parse(source)):
        tree = statement.tree
        options = tree.args.get("options") or () if isinstance(tree, Declaration) else ()
        for pair in reversed(options):
            place = extent(pair)
            if place is not None and (is_secret(pair.name) or tree.args["kind"] == "SINK"):
                key = pair.name.replace("'", "\\'")
                text = f"{text[: place[0]]}'{key}' ''{text[place[1] :]}"
    return text
