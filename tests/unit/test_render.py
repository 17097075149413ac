"""Diagnostics as text."""

from __future__ import annotations

from caesura.diagnostics import Diagnostic, Label, Source, Span
from caesura.diagnostics.code import Code
from caesura.diagnostics.render import render

TEXT = "SELECT *\nFROM bid AS b\nJOIN auction AS a ON b.auction = a.id\n"


def at(part: str, text: str = TEXT, name: str = "q4.sql") -> Span:
    start = text.index(part)
    return Span(Source(name, text), start, start + len(part))


def lines(*labels: Label, **more: tuple[str, ...]) -> list[str]:
    return render(Diagnostic(Code.SYNTAX, "message", labels, **more)).split("\n")[1:]  # type: ignore[arg-type]


def test_the_layout_is_that_of_the_style_guide() -> None:
    diagnostic = Diagnostic(
        Code.JOIN_UNBOUNDED,
        "the join state of `bid` grows without bound",
        (
            Label(at("bid AS b"), "every row waits for an auction that may still come"),
            Label(at("auction AS a"), "never punctuates `id`"),
        ),
        because=("`auction` punctuates (seller), which this join does not pin",),
        help=("add UNIQUE (id) or PUNCTUATED BY (id) to `auction`",),
    )
    assert (
        render(diagnostic)
        == """\
error[CAE0102]: the join state of `bid` grows without bound
  --> q4.sql:2:6
   |
 2 | FROM bid AS b
   |      ^^^^^^^^ every row waits for an auction that may still come
 3 | JOIN auction AS a ON b.auction = a.id
   |      ------------ never punctuates `id`
   |
   = because: `auction` punctuates (seller), which this join does not pin
   = help: add UNIQUE (id) or PUNCTUATED BY (id) to `auction`"""
    )


def test_lines_come_in_the_order_of_the_text_whichever_label_is_first() -> None:
    assert lines(Label(at("auction AS a"), "here"), Label(at("SELECT"), "there")) == [
        "  --> q4.sql:3:6",
        "   |",
        " 1 | SELECT *",
        "   | ------ there",
        "...",
        " 3 | JOIN auction AS a ON b.auction = a.id",
        "   |      ^^^^^^^^^^^^ here",
    ]


def test_labels_on_one_line_are_one_below_the_other() -> None:
    assert lines(Label(at("a.id"), "first"), Label(at("b.auction"), "second")) == [
        "  --> q4.sql:3:34",
        "   |",
        " 3 | JOIN auction AS a ON b.auction = a.id",
        "   |                                  ^^^^ first",
        "   |                      --------- second",
    ]


def test_a_label_over_several_lines_is_shown_on_its_first() -> None:
    assert lines(Label(at("bid AS b\nJOIN auction"))) == [
        "  --> q4.sql:2:6",
        "   |",
        " 2 | FROM bid AS b",
        "   |      ^^^^^^^^",
    ]


def test_an_empty_span_at_the_end_still_has_a_mark() -> None:
    source = Source("q.sql", "SELECT")
    assert lines(Label(Span(source, 6, 6), "expected more")) == [
        "  --> q.sql:1:7",
        "   |",
        " 1 | SELECT",
        "   |       ^ expected more",
    ]


def test_the_gutter_is_as_wide_as_the_longest_line_number() -> None:
    text = "first\n" + "\n" * 98 + "last"
    assert lines(Label(at("last", text)), Label(at("first", text)), help=("more",)) == [
        "    --> q4.sql:100:1",
        "     |",
        "   1 | first",
        "     | -----",
        "...",
        " 100 | last",
        "     | ^^^^",
        "     |",
        "     = help: more",
    ]


def test_tabs_and_wide_characters_keep_the_mark_in_its_place() -> None:
    assert lines(Label(at("x", "\t'日本' x")))[2:] == [" 1 |     '日本' x", "   |            ^"]


def test_carriage_returns_are_not_shown() -> None:
    assert lines(Label(at("a", "a\r\nb")))[2] == " 1 | a"


def test_without_a_place_there_are_only_the_head_and_the_notes() -> None:
    diagnostic = Diagnostic(Code.SOURCE, "`bid` cannot be read", because=("one\ntwo",), severity="warning")
    assert render(diagnostic) == "warning[CAE0502]: `bid` cannot be read\n   = because: one\n              two"


def test_each_source_has_its_own_snippet() -> None:
    assert lines(Label(at("bid")), Label(at("z", "xyz", "other.sql"), "and this"))[4:] == [
        "  ::: other.sql:1:3",
        "   |",
        " 1 | xyz",
        "   |   - and this",
    ]


def test_colour_changes_nothing_but_the_colour() -> None:
    diagnostic = Diagnostic(Code.SYNTAX, "message", (Label(at("bid"), "here"),), help=("do",))
    painted = render(diagnostic, color=True)
    assert "\033[1;31m^^^ here\033[0m" in painted
    plain = "".join(part.partition("m")[2] if n else part for n, part in enumerate(painted.split("\033[")))
    assert plain == render(diagnostic)
