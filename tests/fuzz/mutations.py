"""Texts and JSON that are nearly right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        -1,
        0,
        1,
        2**31,
        2**63,
        -(2**63) - 1,
        10**400,
        0.5,
        -0.0,
        1e308,
        float("inf"),
        float("nan"),
    ),
    *(
        "",
        "x",
        "NA",
        "\0",
        "\u2028",
        "é" * 40,
        "2024-02-30",
        "1e400",
        "..",
        "../x",
        "a/b",
        [],
        {},
        [None],
        {"": {}},
    ),
    *([[]], [{}], {"low": 1}, {"from": "a", "to": 1}, "9" * 400, "\ud800"),
)
_PIECES = (
    *(
        "",
        " ",
        "\n",
        "\0",
        "\t",
        "'",
        '"',
        "`",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        ":",
        ".",
        "*",
        "--",
        "/*",
        "*/",
    ),
    *(
        "/*+",
        "\\",
        "é",
        "\U0001f600",
        "\ufeff",
        "\ud800",
        "9" * 40,
        "1e400",
        "-",
        "null",
        "NaN",
        "0x",
        "$",
        "${a}",
        "%",
    ),
)


def text(given: str, random: Random, words: Sequence[str] = ()) -> str:
    """A few words or characters removed, doubled, exchanged, moved or foreign."""
    parts = _WORD.findall(given) if random.random() < 0.7 else list(given)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        if not parts:
            break
        place, other = random.randrange(len(parts)), random.randrange(len(parts))
        length = random.choice((1, 1, 1, 3, 10))
        match random.randrange(7):
            case 0:
                del parts[place : place + length]
            case 1:
                parts[place:place] = parts[place : place + length]
            case 2:
                parts[place], parts[other] = parts[other], parts[place]
            case 3:
                parts[place:place] = parts[other : other + length]
            case 4:
                parts[place] = random.choice(words or _PIECES)
            case 5:
                parts.insert(place, random.choice(_PIECES))
            case 6:
                parts[place] = parts[place] * random.choice((2, 50))
    return "".join(parts)


def tree(given: Any, random: Random) -> Any:
    """JSON in which a few values are others, of other types, gone, or doubled."""
    whole = deepcopy(given)
    for _ in range(random.choice((1, 1, 2, 4))):
        places = _places(whole)
        if not places:
            return deepcopy(random.choice(_VALUES))
        holder, key = random.choice(places)
        match random.randrange(4):
            case 0:
                del holder[key]
            case 1 | 2:
                holder[key] = deepcopy(random.choice(_VALUES))
            case 3:
                other, elsewhere = random.choice(places)
                if elsewhere in (other if isinstance(other, dict) else range(len(other))):
                    copy = deepcopy(other[elsewhere])
                    if isinstance(holder, list):
                        holder.append(copy)
                    else:
                        holder[random.choice((key, "", "x"))] = copy
    return whole


def _places(value: Any) -> list[tuple[Any, Any]]:
    places: list[tuple[Any, Any]] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in pairs:
        places.append((value, key))
        places += _places(below)
    return places
