"""Names for output columns that the user did not name."""

from __future__ import annotations

from sqlglot import exp


def generated(value: exp.Expr) -> str:
    """As Spark does it: the expression itself, without qualifiers and quotes, with operators in parentheses.

    >>> from sqlglot import parse_one
    >>> generated(parse_one("MAX(b.price) + 1"))
    '(max(price) + 1)'
    """
    if isinstance(value, exp.Cast) and isinstance(value.this, exp.Column):
        return value.this.name
    root = exp.Paren(this=value.copy())
    for node in reversed(list(root.this.walk())):  # inner nodes first
        match node:
            case exp.Paren():
                node.replace(node.this)
            case exp.Column():
                node.replace(exp.Column(this=exp.to_identifier(node.name)))
            case exp.Literal() if node.is_string and not isinstance(node.parent, exp.Interval):
                node.replace(exp.Var(this=node.name))
            case exp.Star() if isinstance(node.parent, exp.AggFunc):
                node.replace(exp.Literal.number(1))
            case exp.Binary() if not isinstance(node, exp.Dot):
                wrapped = exp.Paren()
                node.replace(wrapped)
                wrapped.set("this", node)
    name: str = root.this.sql(dialect="spark", comments=False, normalize_functions="lower")
    return name
