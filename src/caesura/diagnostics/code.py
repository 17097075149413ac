"""The stable codes of diagnostics. A code keeps its meaning for ever; `codes/<code>.md` explains it."""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import files


class Code(StrEnum):
    # reading
    BAD_TOKEN = "CAE0001"
    SYNTAX = "CAE0002"
    TOO_DEEP = "CAE0003"
    NO_FILE = "CAE0004"
    NO_QUERY = "CAE0005"
    # safety
    JOIN_UNBOUNDED = "CAE0102"
    GROUP_UNBOUNDED = "CAE0103"
    BLOCKED = "CAE0104"
    DISTINCT_UNBOUNDED = "CAE0105"
    COMPARISON_UNBOUNDED = "CAE0106"
    SORT_UNBOUNDED = "CAE0107"
    PUNCTUATIONS_GROW = "CAE0108"
    UNSAFE_TREE = "CAE0109"
    RANK_UNBOUNDED = "CAE0110"
    FRAME_UNBOUNDED = "CAE0111"
    # binding
    UNKNOWN_RELATION = "CAE0201"
    UNKNOWN_COLUMN = "CAE0202"
    AMBIGUOUS_COLUMN = "CAE0203"
    DUPLICATE_ALIAS = "CAE0204"
    DUPLICATE_OUTPUT = "CAE0205"
    INCOMPARABLE = "CAE0206"
    NOT_BOOLEAN = "CAE0207"
    WRONG_TYPE = "CAE0208"
    NOT_GROUPED = "CAE0209"
    UNKNOWN_FUNCTION = "CAE0210"
    MISPLACED_AGGREGATE = "CAE0211"
    GROUP_POSITION = "CAE0212"
    UNKNOWN_SINK = "CAE0213"
    ALIAS_COUNT = "CAE0214"
    WINDOW_WITHOUT_ORDER = "CAE0215"
    IDLE_WINDOW = "CAE0216"
    HINT_INPUTS = "CAE0217"
    IDLE_RELEASE = "CAE0218"
    # declarations
    DUPLICATE_NAME = "CAE0301"
    DUPLICATE_COLUMN = "CAE0302"
    CONSTRAINT_COLUMN = "CAE0303"
    NO_ORDER = "CAE0304"
    SLACK_NOT_TEMPORAL = "CAE0305"
    CONDITION_NOT_BOOLEAN = "CAE0306"
    COMPLETE_TABLE = "CAE0307"
    PUNCTUATION_COLUMN = "CAE0308"
    MISSING_CLAUSE = "CAE0309"
    UNKNOWN_TYPE = "CAE0310"
    MISPLACED_CLAUSE = "CAE0311"
    BAD_INTERVAL = "CAE0312"
    DUPLICATE_OPTION = "CAE0313"
    NOT_CLOSABLE = "CAE0314"
    RELEASE_WITHOUT_TIME = "CAE0315"
    BAD_OPTION = "CAE0316"
    # not supported here
    STATEMENT = "CAE0401"
    CLAUSE = "CAE0402"
    JOIN_KIND = "CAE0403"
    SET_OPERATION = "CAE0404"
    SUBQUERY = "CAE0405"
    WINDOW_FUNCTION = "CAE0406"
    TABLE_FUNCTION = "CAE0407"
    EMIT_CHANGES = "CAE0408"
    AGGREGATE_FORM = "CAE0409"
    NOT_DETERMINISTIC = "CAE0410"
    NO_INPUT = "CAE0411"
    EXPRESSION = "CAE0412"
    # running
    NO_JAVA = "CAE0501"
    SOURCE = "CAE0502"
    SINK = "CAE0503"
    OTHER_PIPELINE = "CAE0504"
    SLICE_FAILED = "CAE0505"
    CHECKPOINT = "CAE0506"
    ARGUMENT = "CAE0507"
    VIOLATION = "CAE0508"
    STATISTICS = "CAE0509"
    DAMAGED = "CAE0510"
    OTHER_FORMAT = "CAE0511"
    IN_USE = "CAE0512"
    TOO_MANY_ASIDE = "CAE0513"

    @property
    def page(self) -> str:
        """The explanation, in markdown."""
        return (files("caesura.diagnostics") / "codes" / f"{self}.md").read_text(encoding="utf-8")


TITLES: dict[Code, str] = {
    Code.BAD_TOKEN: "the text cannot be split into tokens",
    Code.SYNTAX: "the statement cannot be parsed",
    Code.NO_FILE: "a file cannot be read or written",
    Code.NO_QUERY: "a file has no query of that name",
    Code.TOO_DEEP: "the statement is nested too deeply",
    Code.JOIN_UNBOUNDED: "the state of a join grows without bound",
    Code.GROUP_UNBOUNDED: "the state of a grouping grows without bound",
    Code.BLOCKED: "an operator never emits a row",
    Code.DISTINCT_UNBOUNDED: "the state of DISTINCT or UNION grows without bound",
    Code.COMPARISON_UNBOUNDED: "the state of INTERSECT or EXCEPT grows without bound",
    Code.SORT_UNBOUNDED: "the state of a sort grows without bound",
    Code.PUNCTUATIONS_GROW: "the punctuations that a join keeps grow by one entry per key",
    Code.UNSAFE_TREE: "the tree of joins that a hint asks for is not safe",
    Code.FRAME_UNBOUNDED: "the state of a function with OVER grows without bound",
    Code.RANK_UNBOUNDED: "the state of a ranking grows without bound",
    Code.UNKNOWN_RELATION: "a name in FROM is not declared",
    Code.UNKNOWN_COLUMN: "no input has such a column",
    Code.AMBIGUOUS_COLUMN: "several inputs have such a column",
    Code.DUPLICATE_ALIAS: "two inputs have the same name",
    Code.DUPLICATE_OUTPUT: "two output columns have the same name",
    Code.INCOMPARABLE: "two types do not compare",
    Code.NOT_BOOLEAN: "a condition is not boolean",
    Code.WRONG_TYPE: "an operator or function does not take this type",
    Code.NOT_GROUPED: "a column is neither grouped nor aggregated",
    Code.UNKNOWN_FUNCTION: "a function is not known",
    Code.MISPLACED_AGGREGATE: "an aggregate stands where none may stand",
    Code.GROUP_POSITION: "GROUP BY names a position that does not exist",
    Code.UNKNOWN_SINK: "INSERT INTO names something that is not a sink",
    Code.ALIAS_COUNT: "an alias names more or fewer columns than there are",
    Code.WINDOW_WITHOUT_ORDER: "a window needs a stream that is ordered by a time",
    Code.IDLE_WINDOW: "a window limits nothing",
    Code.HINT_INPUTS: "a hint does not fit the joins of its query",
    Code.IDLE_RELEASE: "OPTIONS (release …) gives nothing up",
    Code.DUPLICATE_NAME: "a name is declared twice",
    Code.DUPLICATE_COLUMN: "a column is declared twice",
    Code.CONSTRAINT_COLUMN: "a constraint names a column that is not declared",
    Code.NO_ORDER: "ORDERED BY needs a type that has an order",
    Code.SLACK_NOT_TEMPORAL: "WITHIN and IDLE AFTER need a column of dates or times",
    Code.CONDITION_NOT_BOOLEAN: "the condition of a constraint is not boolean",
    Code.COMPLETE_TABLE: "COMPLETE BY names a table that cannot list the parts",
    Code.PUNCTUATION_COLUMN: "a column is declared under the name of the punctuation column",
    Code.MISSING_CLAUSE: "a declaration lacks a clause",
    Code.UNKNOWN_TYPE: "a type is not known",
    Code.MISPLACED_CLAUSE: "a declaration has a clause that does not belong there",
    Code.BAD_INTERVAL: "an interval is not one positive, fixed length of time",
    Code.DUPLICATE_OPTION: "an option is given twice",
    Code.NOT_CLOSABLE: "a promise is about a column whose values no punctuation can name",
    Code.RELEASE_WITHOUT_TIME: "OPTIONS (release …) needs a time",
    Code.BAD_OPTION: "an option of Caesura has a value that it cannot have",
    Code.STATEMENT: "this kind of statement is not supported",
    Code.CLAUSE: "this version does not execute a clause",
    Code.JOIN_KIND: "this kind of join is not supported",
    Code.SET_OPERATION: "this set operation is not supported",
    Code.SUBQUERY: "this version does not execute a subquery in this place",
    Code.WINDOW_FUNCTION: "this version does not execute this window function, or not in this place",
    Code.TABLE_FUNCTION: "this version does not execute table functions",
    Code.EMIT_CHANGES: "EMIT CHANGES stands where it means nothing",
    Code.AGGREGATE_FORM: "this version does not execute this aggregate",
    Code.NOT_DETERMINISTIC: "a function may answer differently when a slice is run again",
    Code.NO_INPUT: "a query has no FROM",
    Code.EXPRESSION: "this version does not execute this expression",
    Code.NO_JAVA: "there is no Java for Spark to run on",
    Code.SOURCE: "a stream or table cannot be read",
    Code.SINK: "a sink cannot be written to",
    Code.OTHER_PIPELINE: "the checkpoint belongs to another pipeline",
    Code.SLICE_FAILED: "a slice failed while running",
    Code.CHECKPOINT: "the checkpoint cannot be used",
    Code.ARGUMENT: "an argument of the Python interface does not fit",
    Code.VIOLATION: "a stream broke its contract, and was declared to stop then",
    Code.STATISTICS: "a file of statistics cannot be used",
    Code.DAMAGED: "the checkpoint is not as it was left",
    Code.OTHER_FORMAT: "the checkpoint was written by another version",
    Code.IN_USE: "another run writes to the same checkpoint or sink",
    Code.TOO_MANY_ASIDE: "more of a stream would be set aside than is allowed",
}
