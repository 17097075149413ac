"""Plans written by hand, for tests of what stands on plans alone."""

from __future__ import annotations

from sqlglot import exp, parse_one

from caesura.catalog import Column, Constraint, PunctuatedBy, Stream, Table, Unique
from caesura.expression import Expr, column
from caesura.plan import Aggregate, Distinct, Equality, Filter, Group, Join, Output, Plan, Project, Query, Scan
from caesura.types import BIGINT, BOOLEAN, Type


def stream(name: str, columns: str, *constraints: Constraint, type: Type = BIGINT) -> Stream:
    return Stream(name, tuple(Column(each, type) for each in columns.split()), constraints)


def table(name: str, columns: str) -> Table:
    return Table(name, tuple(Column(each, BIGINT) for each in columns.split()))


def scan(relation: Stream | Table, alias: str | None = None) -> Scan:
    return Scan(relation, alias or relation.name)


def expr(sql: str) -> Expr:
    """`a.id = 1` over the plan columns `a.id`."""

    def named(node: exp.Expression) -> exp.Expression:
        return exp.column(node.sql(), quoted=True) if isinstance(node, exp.Column) else node

    return Expr(parse_one(sql, dialect="spark").transform(named), BOOLEAN)


def where(plan: Plan, sql: str) -> Filter:
    return Filter(plan, expr(sql))


def join(*plans: Plan, on: str = "", residual: str = "") -> Join:
    """`on` lists equalities: `a.id = b.auction, b.bidder = p.id`."""
    pairs = (each.split(" = ") for each in on.split(", ") if each)
    equalities = tuple(Equality(left, right) for left, right in pairs)
    return Join(plans, equalities, expr(residual) if residual else None)


def project(plan: Plan, **outputs: str) -> Project:
    """`out="a.id"`: a column under a new name."""
    types = {each.name: each.type for each in plan.columns}
    return Project(plan, tuple(Output(new, column(old, types[old])) for new, old in outputs.items()))


def group(plan: Plan, *keys: str) -> Group:
    return Group(plan, keys, (Aggregate(Column("count", BIGINT), "COUNT"),))


def distinct(plan: Plan, *columns: str) -> Distinct:
    """SELECT DISTINCT of some columns."""
    return Distinct(project(plan, **{name: name for name in columns}))


def query(plan: Plan, name: str = "select_1") -> Query:
    return Query(name, plan, "select")


AUCTION = stream("auction", "id seller category", Unique(("id",)))
BID = stream("bid", "auction bidder price", PunctuatedBy(("auction",)))
CATEGORY = table("category", "id name")
