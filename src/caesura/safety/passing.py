"""When the first rows of an open partition are final: no row can come before them any more."""

from __future__ import annotations

from collections.abc import Collection

from caesura.plan import Frame, Rank
from caesura.punctuation import Scheme
from caesura.safety.presence import present


def passing(node: Rank | Frame, schemes: Collection[Scheme]) -> Scheme | None:
    """The rising bound of the input, by these schemes of it, that lets rows go before their partition is closed.

    A bound says nothing of NULL: where one may come, and comes first, nothing is certain before that.
    """
    first = node.order[0]
    bound = Scheme((first.column,), ordered=True)
    if first.descending or bound not in schemes or first.column in node.partition:
        return None
    return None if first.nulls_first and not present(node.input, first.column) else bound
