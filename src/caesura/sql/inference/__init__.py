"""The type of a bound expression, and the refusal of one that has none.

`infer` is one total match over the syntax, spread over a file for each kind of rule: operators are typed by
Spark's rules (`arithmetic`); the result types of functions are sqlglot's, except those that `functions`
states; whatever has no rule is refused.
"""

from caesura.sql.inference import calls, choices, operators, predicates, values
from caesura.sql.inference.dispatch import infer
from caesura.sql.inference.predicates import truth

RULES = (values, operators, predicates, choices, calls)  # imported for what they register

__all__ = ["infer", "truth"]
