"""Lines of text formats, read so that nothing of them is lost without a word.

Spark reads the first JSON object of a line and skips what comes after it; takes `{"K": 6}` to have no `k`, and
1e400 for infinity. So JSON lines are read as texts, and parsed here. What cannot be read as it was declared is set
aside with the line, and with the columns and values that do not fit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from caesura.catalog import Column, Stream
from caesura.operators.rows import quote, text

CORRUPT = "caesura: corrupt"
"""The line, where it cannot be read. Like all columns of our own it has a name that nobody declares."""
DETAIL = "caesura: detail"
"""What is wrong with it."""
FILE = "caesura: file"
"""Where it came from."""

_LINE, _PARSED = "value", "caesura: parsed"
_OURS = {"multiline", "mode", "columnnameofcorruptrecord"}
"""Options that have to be as they are here."""


def is_json_lines(stream: Stream) -> bool:
    """Whether a stream is read as lines of JSON. A file that is one value, other encodings, and JSON with more
    liberties are left to Spark."""
    origin = stream.origin
    if origin is None or origin.format.lower() != "json":
        return False
    options = {name.lower(): value.lower() for name, value in origin.options}
    encoding = options.get("encoding", options.get("charset", "utf-8"))
    plain = options.get("multiline", "false") != "true" and encoding in ("utf-8", "utf8")
    return plain and not any(name.startswith("allow") for name in options)


BLANK = " \t\r\n"
"""What may be around a line's object, and is no line by itself."""


def is_blank(line: str) -> str:
    return f"length(trim(BOTH {text(BLANK)} FROM {line})) = 0"


def parsed(stream: Stream, present: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Two steps from lines to the columns of a stream and those above, as SQL: over a line, and over that. Columns
    that are `present` beside it come from the names of folders."""
    in_path = {c.name: quote(c.name) for c in stream.columns if c.name in present and c.name != _LINE}
    declared = (f"{quote(c.name)} {c.type}" for c in stream.columns)
    schema = (*declared, *_texts([stream.punctuation_column, CORRUPT]))
    first = {
        **in_path,
        _LINE: quote(_LINE),
        _PARSED: f"from_json({quote(_LINE)}, {text(', '.join(schema))}, {_options(stream)})",
    }
    detail = _json_detail(stream)
    second = {c.name: in_path.get(c.name, f"{quote(_PARSED)}.{quote(c.name)}") for c in stream.columns}
    said = f"{quote(_PARSED)}.{quote(stream.punctuation_column)}"
    second[stream.punctuation_column] = f"IF({detail} IS NULL, {said}, NULL)"  # of a line set aside nothing holds
    second |= {CORRUPT: f"IF({detail} IS NULL, NULL, {quote(_LINE)})", DETAIL: detail}
    return first, second


def _json_detail(stream: Stream) -> str:
    """What is wrong with a line; NULL if nothing is."""
    unread = f"{quote(_PARSED)}.{quote(CORRUPT)} IS NOT NULL"
    raw = {c.name: f"get_json_object({quote(_LINE)}, {text(_path(c.name))})" for c in stream.columns}
    said = f"{quote(_PARSED)}.{quote(stream.punctuation_column)} IS NOT NULL"
    cases = (
        f"WHEN {unread} THEN coalesce({_misfits(stream.columns, raw, quote(_PARSED))}, 'it is no JSON object')",
        f"WHEN NOT startswith(trim(LEADING {text(BLANK)} FROM {quote(_LINE)}), '{{') THEN 'it is no JSON object'",
        f"WHEN NOT {_whole(stream)} THEN 'there is more on the line than one JSON object'",
        *(f"WHEN {_overflows(c)} THEN {text(f'`{c.name}` is too large for {c.type}')}" for c in _floats(stream)),
        f"WHEN {said} THEN NULL",
        f"ELSE {_other_case(stream)}",
    )
    return f"CASE {' '.join(cases)} END"


def csv_detail(stream: Stream) -> str:
    """What is wrong with a line of CSV that Spark could not read; NULL if that cannot be told."""
    schema = ", ".join(_texts(c.name for c in stream.columns))
    fields = f"from_csv({quote(CORRUPT)}, {text(schema)}, {_options(stream)})"
    raw = {c.name: f"{fields}.{quote(c.name)}" for c in stream.columns}
    return f"IF({quote(CORRUPT)} IS NULL, NULL, {_misfits(stream.columns, raw, None)})"


def _misfits(columns: Iterable[Column], raw: Mapping[str, str], read: str | None) -> str:
    """The values that are there, and were not read, with what they should be."""
    told = (_misfit(c, raw[c.name], quote(c.name) if read is None else f"{read}.{quote(c.name)}") for c in columns)
    return f"nullif(concat_ws(', ', {', '.join(told)}), '')"


def _misfit(column: Column, raw: str, read: str) -> str:
    before, after = text(f"`{column.name}`: '"), text(f"' is no {column.type}")
    return f"IF({raw} IS NOT NULL AND {read} IS NULL, concat({before}, left({raw}, 80), {after}), NULL)"


def _whole(stream: Stream) -> str:
    """That a line which begins with an object is nothing else. Where its first brace that closes is its last
    character it needs no second look. Else it is read within brackets, so that text after it is an error to the
    parser, which would skip it otherwise; and within braces, since no text can close both."""
    line = quote(_LINE)
    brief = f"instr({line}, '}}') = length(trim(TRAILING {text(BLANK)} FROM {line}))"
    listed = f"size(from_json(concat('[', {line}, ']'), 'ARRAY<STRING>', {_options(stream)})) = 1"
    schema = text(f"v STRING, {quote(CORRUPT)} STRING")
    inner = f"from_json(concat('{{\"v\":', {line}, '}}'), {schema}, {_options(stream)})"
    return f"({brief} OR coalesce({listed} AND {inner}.{quote(CORRUPT)} IS NULL AND {inner}.v IS NOT NULL, false))"


def _floats(stream: Stream) -> list[Column]:
    return [c for c in stream.columns if c.type.kind in ("DOUBLE", "FLOAT")]


def _overflows(column: Column) -> str:
    value = f"{quote(_PARSED)}.{quote(column.name)}"
    named = text(f'"\\Q{column.name}\\E"\\s*:\\s*"?[+-]?(?i:inf)')
    return f"(abs({value}) = double('Infinity') AND NOT {quote(_LINE)} RLIKE {named})"


def _other_case(stream: Stream) -> str:
    """A field whose name is that of a column that is missing, in other letters; NULL if there is none."""
    missing = {c.name: f"{quote(_PARSED)}.{quote(c.name)} IS NULL" for c in stream.columns}
    if not missing:
        return "NULL"
    asked = {**missing, stream.punctuation_column: "true"}  # which a row has not, or it would not be asked
    strange = " OR ".join(
        f"({null} AND lower(key) = {text(name.lower())} AND key <> {text(name)})" for name, null in asked.items()
    )
    keys = f"filter(json_object_keys({quote(_LINE)}), key -> {strange})"
    told = "key -> concat('\"', key, '\" is no column: letters of another case')"
    return f"IF({' OR '.join(missing.values())}, transform(array(get({keys}, 0)), {told})[0], NULL)"


def _path(name: str) -> str:
    return f"$['{name}']" if "'" not in name else f"$.{name}"


def _texts(names: Iterable[str]) -> list[str]:
    return [f"{quote(name)} STRING" for name in names]


def _options(stream: Stream) -> str:
    assert stream.origin is not None
    given = {name: value for name, value in stream.origin.options if name.lower() not in _OURS}
    given["columnNameOfCorruptRecord"] = CORRUPT
    pairs = (f"{text(name)}, {text(value)}" for name, value in given.items())
    return f"map({', '.join(pairs)})"
