"""A join whose inputs forget what all of them have closed (THEORY section 7). Nothing else about it differs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from caesura.model.join import Join
from caesura.model.operator import Rows, Slice, State, covered
from caesura.punctuation import Constant, Punctuation, Value, match


class Forgetful(Join):
    """Constants on join attributes go once every input that has a column for one of the values has closed those it
    has columns for, and has no row left with them. All are judged before any goes."""

    def step(self, state: State, new: Sequence[Slice]) -> tuple[Rows, State]:
        """In the last slice they could still be passed on."""
        return super().step(self.forget(state), new)

    def forget(self, kept: State) -> State:
        return tuple(
            Slice(held.rows, frozenset(p for p in held.punctuations if not self.outlived(i, p, kept)))
            for i, held in enumerate(kept)
        )

    def outlived(self, i: int, p: Punctuation, kept: State) -> bool:
        """No row will ask for p of input i again."""
        values = {
            self.first_of_class[name]: each.value
            for name, each in p.patterns
            if name in self.first_of_class and isinstance(each, Constant)
        }
        if len(values) < len(p.patterns):
            return False
        shared = {k: mine for k, names in enumerate(self.columns) if (mine := self._shared(names, values))}
        return (
            len(shared) > 1
            and not any(self.opens(mine, kept[k]) for k, mine in shared.items())
            and not any(self.waits(shared[k], kept[k]) for k in self.askers(i, shared))
        )

    def askers(self, i: int, shared: Collection[int]) -> Iterable[int]:
        """Whose rows may still ask. Those of input i itself do too, for what its partners have closed, who would
        never forget it without this input."""
        return shared

    def _shared(self, names: Sequence[str], values: Mapping[str, Value]) -> dict[str, Value]:
        """The values, as the columns of an input have them."""
        classes = ((name, self.first_of_class.get(name, "")) for name in names)
        return {name: values[first] for name, first in classes if first in values}

    def opens(self, values: Mapping[str, Value], held: Slice) -> bool:
        """Whether a row with these values may still come."""
        return not covered(values, {}, held.punctuations)

    def waits(self, values: Mapping[str, Value], held: Slice) -> bool:
        """Whether a row with these values is left."""
        p = Punctuation.of({name: Constant(value) for name, value in values.items()})
        return any(match(row, p) for row in held.rows)
