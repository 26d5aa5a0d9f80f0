"""The small faults that can be made: each operator takes a piece of a syntax tree and yields what it becomes.

Left alone is what changes nothing, as far as it can be seen without running it: sentences (strings and what stands in
them, errors that are raised), annotations, decorators, how long something waits and how much it does at once, amounts
of rounding (1e-6 and less, or a name for that), and comparisons of equals that end in the same place (``if a > b:
a = b``). Numbers such as 0.95 are levels only where their line speaks of levels or quantiles.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)

LEAST = {"max": "min", "maximum": "minimum", "argmax": "argmin", "nanmax": "nanmin", "fmax": "fmin", "ceil": "floor"}
EXTREMES = LEAST | {least: most for most, least in LEAST.items()}
STRICT: dict[type, type] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
SYMMETRIC = re.compile(
    r"^(min|max|isinstance|issubclass|\w*attr|array_equal|logical_\w+|isclose|hypot|gcd|cast|allclose)"
)
LEVELS = re.compile(r"(^|_)(level|alpha|confidence)$")
NARROWER = {0.95: 0.9, 0.975: 0.95, 0.025: 0.05}
DEFAULTS = {"bool": "False", "int": "0", "float": "0.0", "tuple": "()", "list": "[]", "dict": "{}"}
WAITS = re.compile(
    r"seconds|deadline|timeout|time_limit|monotonic|perf_counter|worker|chunk|MEGABYTE|cache|sleep|folder|path"
)
OF_LEVELS = re.compile(r"level|quantile|percentile|confidence|alpha|ppf|interval")


def changed(node: Node, **fields: Any) -> Node:
    """Return a copy of a node with other fields."""
    copy = deepcopy(node)
    for name, value in fields.items():
        setattr(copy, name, value)
    return copy


def called(node: ast.AST) -> str:
    """Return the last part of the name of what is called; "" where nothing is called."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def dotted_name(node: ast.AST) -> str:
    """Return the last part of a name; "" of anything else."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def is_integer(node: ast.AST | None) -> bool:
    """Return whether a node is a whole number."""
    return isinstance(node, ast.Constant) and type(node.value) is int


def number(node: ast.AST) -> bool:
    """Return whether a node is a number."""
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def more(node: ast.expr) -> ast.expr:
    """Return an expression and one."""
    if isinstance(node, ast.Constant):
        return ast.Constant(node.value + 1)
    return ast.BinOp(deepcopy(node), ast.Add(), ast.Constant(1))


def each_of(node: Node, field: str, change: Callable[[ast.expr], ast.expr | None]) -> Iterator[Node]:
    """Yield copies of a node in each of which one expression of a list is another."""
    values = getattr(node, field)
    for index, value in enumerate(values):
        if (replacement := change(value)) is not None:
            yield changed(node, **{field: [*values[:index], replacement, *values[index + 1 :]]})


def sign(node: ast.AST) -> Iterator[ast.AST]:
    """Plus for minus."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        joined = ast.Constant | ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp | ast.Call
        sides = [side for side in (node.left, node.right) if isinstance(side, joined)]
        texts = [
            s for s in sides if not isinstance(s, ast.Constant | ast.Call) or called(s) in {"tuple", "list", "str"}
        ]
        if not texts and not any(isinstance(s, ast.Constant) and isinstance(s.value, str | bytes) for s in sides):
            yield changed(node, op=ast.Sub() if isinstance(node.op, ast.Add) else ast.Add())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.operand


def off_by_one(node: ast.AST) -> Iterator[ast.AST]:
    """One more at the end of a slice or range, in an index, or in what a count is compared with."""
    if isinstance(node, ast.Subscript):
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for number, part in enumerate(places):
            if isinstance(part, ast.Slice) and (part.lower or part.upper):
                end = "lower" if part.lower else "upper"
                replacement: ast.expr = changed(part, **{end: more(getattr(part, end))})
            elif isinstance(part, ast.UnaryOp) and is_integer(part.operand):
                replacement = changed(part, operand=more(part.operand))
            else:
                continue
            several = [*places[:number], replacement, *places[number + 1 :]]
            yield changed(node, slice=ast.Tuple(several, ast.Load()) if len(places) > 1 else replacement)
    if called(node) in {"range", "arange"} and node.args:
        yield changed(node, args=[*node.args[:-1], more(node.args[-1])])
    if isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        yield from each_of(node, "comparators", lambda value: more(value) if is_integer(value) else None)


def swapped_group(node: ast.AST) -> Iterator[ast.AST]:
    """Group 0 for group 1, or the first for the second."""
    flip = {0: 1, 1: 0}

    def flipped(value: ast.AST) -> ast.expr | None:
        return ast.Constant(flip[value.value]) if is_integer(value) and value.value in flip else None

    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq) and called(node.left) != "len":
        yield from each_of(node, "comparators", flipped)
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Tuple):
            yield from (changed(node, slice=elements) for elements in each_of(node.slice, "elts", flipped))
        elif (replacement := flipped(node.slice)) is not None:
            yield changed(node, slice=replacement)


def swapped_arguments(node: ast.AST) -> Iterator[ast.AST]:
    """Two arguments of a call for each other."""
    if called(node) and not SYMMETRIC.match(called(node)) and len(node.args) > 1:
        first, second, *rest = node.args
        like = type(first) is type(second) and ast.unparse(first) != ast.unparse(second)
        if like and isinstance(first, ast.Name | ast.Attribute | ast.Subscript):
            yield changed(node, args=[second, first, *rest])


def dropped_baseline(node: ast.AST) -> Iterator[ast.AST]:
    """The first alone, for the larger of two or for what it is above the second."""
    if called(node) in {"max", "maximum"} and len(node.args) == 2 and not number(node.args[0]):
        yield node.args[0]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and not number(node.left) | number(node.right):
        yield node.left


def interval(node: ast.AST) -> Iterator[ast.AST]:
    """Another level of an interval: one-sided for two-sided, or a narrower one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and ast.unparse(node.right) in ("2", "2.0"):
        yield from [node.left] if any(LEVELS.search(dotted_name(part)) for part in ast.walk(node.left)) else []
    if isinstance(node, ast.Constant) and node.value in NARROWER:
        yield ast.Constant(NARROWER[node.value])
    if isinstance(node, ast.Call):
        for index, keyword in enumerate(node.keywords):
            if keyword.arg and LEVELS.search(keyword.arg) and not isinstance(keyword.value, ast.Constant):
                replacement = changed(keyword, value=ast.Constant(0.9))
                yield changed(node, keywords=[*node.keywords[:index], replacement, *node.keywords[index + 1 :]])


def boundary(node: ast.AST) -> Iterator[ast.AST]:
    """< for <=, > for >=, and the other way round; not of numbers drawn from a continuum."""
    if isinstance(node, ast.Compare) and not any(called(part) in {"random", "uniform"} for part in ast.walk(node)):
        for index, operator in enumerate(node.ops):
            if type(operator) in STRICT:
                yield changed(node, ops=[*node.ops[:index], STRICT[type(operator)](), *node.ops[index + 1 :]])


def and_or(node: ast.AST) -> Iterator[ast.AST]:
    """Or for and, and the other way round."""
    if isinstance(node, ast.BoolOp):
        yield changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        yield changed(node, op=ast.BitOr())


def min_max(node: ast.AST) -> Iterator[ast.AST]:
    """The least for the largest, and the other way round."""
    if (replacement := EXTREMES.get(called(node))) and isinstance(node, ast.Call):
        field = "id" if isinstance(node.func, ast.Name) else "attr"
        yield changed(node, func=changed(node.func, **{field: replacement}))


def dropped_guard(node: ast.AST) -> Iterator[ast.AST]:
    """A value itself, for what is clipped, absolute or denied."""
    if isinstance(node, ast.Call) and called(node) in {"clip", "abs", "absolute", "fabs"}:
        method = isinstance(node.func, ast.Attribute) and dotted_name(node.func.value) not in {"np", "math"}
        if method or node.args:
            yield node.func.value if method else node.args[0]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield node.operand


def axis(node: ast.AST) -> Iterator[ast.AST]:
    """Along the other axis."""
    if isinstance(node, ast.Call):
        for index, keyword in enumerate(node.keywords):
            if keyword.arg == "axis" and isinstance(keyword.value, ast.Constant | ast.UnaryOp):
                replacement = changed(keyword, value=ast.Constant(int(ast.unparse(keyword.value) == "0")))
                yield changed(node, keywords=[*node.keywords[:index], replacement, *node.keywords[index + 1 :]])


def denominator(node: ast.AST) -> Iterator[ast.AST]:
    """One too many in what is divided by."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        text = isinstance(node.right, ast.JoinedStr) or (
            isinstance(node.right, ast.Constant) and not number(node.right)
        )
        yield from [] if text else [changed(node, right=more(node.right))]


def early_default(node: ast.AST) -> Iterator[ast.AST]:
    """Nothing returned (no, zero, empty), for what was worked out."""
    default = getattr(node, "default", "")
    if isinstance(node, ast.Return) and node.value and default and ast.unparse(node.value) != default:
        yield changed(node, value=ast.parse(default, mode="eval").body)


OPERATORS = {
    operator.__name__: operator
    for operator in (
        sign,
        off_by_one,
        swapped_group,
        swapped_arguments,
        dropped_baseline,
        interval,
        boundary,
        and_or,
        min_max,
        dropped_guard,
        axis,
        denominator,
        early_default,
    )
}


def worth_a_fault(node: ast.AST, statement: ast.stmt, small: Collection[str]) -> bool:
    """Return whether a change of a node can be seen, as far as its statement and the names of small numbers say."""
    text = ast.unparse(node)
    if len(text) > 140 or "\n" in text or WAITS.search(text):
        return False
    for part in ast.walk(node):
        if dotted_name(part) in small:
            return False
        if isinstance(part, ast.Constant) and isinstance(part.value, float) and 0 < part.value <= 1e-6:
            return False
    if isinstance(node, ast.Constant):
        function = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
        return bool(OF_LEVELS.search(ast.unparse(statement.args if function else statement)))
    return not (isinstance(statement, ast.If) and node is statement.test and _ends_in_the_same(statement))


def _ends_in_the_same(choice: ast.If) -> bool:
    """Return whether a choice puts a value in the place of another that it may equal."""
    if not isinstance(choice.test, ast.Compare) or len(choice.body) != 1 or not isinstance(choice.body[0], ast.Assign):
        return False
    compared = {ast.unparse(side) for side in (choice.test.left, *choice.test.comparators)}
    return {ast.unparse(choice.body[0].targets[0]), ast.unparse(choice.body[0].value)} == compared


def default_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return what a function of this annotation returns of nothing; "" where that is no value of its own kind."""
    annotation = ast.unparse(function.returns) if function.returns else ""
    return "None" if annotation.endswith("| None") else DEFAULTS.get(annotation.partition("[")[0], "")
