"""Parse specifications of symbolic shapes and constraints.

    shape       dimension, dimension, ...   (in parentheses or not; `_` and a final `...` stand for
                sizes taken from another shape)
    dimension   sums and products of integers, variables, powers a^2, floordiv(x, y), mod(x, y),
                max(x, y), min(x, y)
    constraint  x >= y, x <= y, x == y

Errors show the text with a caret under the error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import sagax._src.core.dims.expression as expression
from sagax._src.core.dims.expression import Scope, Size
from sagax._src.diagnostics import errors

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?)|(?P<name>[^\W\d]\w*)|(?P<op>\.\.\.|//|\*\*|>=|<=|==|!=|\S)|(?P<end>$))"
)
_OPERATIONS = expression.OPERATIONS


def _syntax_error(text: str, position: int, message: str, kind: str) -> ValueError:
    caret = " " * position + "^"
    return errors.ArgumentValueError(
        f"syntax error in {kind} {text!r}: {message}\n    {text}\n    {caret}"
    )


class _Parser:
    """Parse one text by recursive descent. ``kind`` names the text in errors."""

    def __init__(self, scope: Scope, text: str, kind: str):
        self.scope = scope
        self.text = text
        self.kind = kind
        self.position = 0  # of the current token
        self.advance(0)

    def advance(self, start: int) -> None:
        match = _TOKEN.match(self.text, start)
        assert match is not None  # the pattern accepts anything, the end included
        self.group = match.lastgroup or "end"
        self.token = match.group(self.group)
        self.position = match.start(self.group)
        self.next = match.end()

    def take(self) -> str:
        token = self.token
        self.advance(self.next)
        return token

    def at(self, *tokens: str) -> bool:
        return self.group == "op" and self.token in tokens

    def expect(self, token: str, where: str) -> None:
        if not self.at(token):
            raise self.fail(f"expected '{token}' {where}, found {self.found()}")
        self.take()

    def found(self) -> str:
        return "the end" if self.group == "end" else f"'{self.token}'"

    def fail(self, message: str, position: int | None = None) -> ValueError:
        return _syntax_error(
            self.text, self.position if position is None else position, message, self.kind
        )

    def sum(self) -> Size:
        negative = self.at("-")
        if negative or self.at("+"):
            self.take()
        value = self.product()
        if negative:
            value = expression.scale(value, -1)
        while self.at("+", "-"):
            sign = 1 if self.take() == "+" else -1
            value = expression.add(value, expression.scale(self.product(), sign))
        return value

    def product(self) -> Size:
        value = self.power()
        while self.at("*"):
            self.take()
            value = expression.multiply(value, self.power())
        return value

    def power(self) -> Size:
        value = self.primary()
        if self.at("^", "**"):
            self.take()
            if self.group != "number" or "." in self.token:
                raise self.fail(f"expected an integer exponent, found {self.found()}")
            value = expression.power(value, int(self.take()))
        return value

    def primary(self) -> Size:
        if self.group == "number":
            if "." in self.token:
                raise self.fail(f"expected an integer, found '{self.token}'")
            return int(self.take())
        if self.group == "name":
            return self.name()
        if self.at("-"):
            self.take()
            return expression.scale(self.primary(), -1)
        if self.at("("):
            self.take()
            value = self.sum()
            self.expect(")", "to close the parenthesis")
            return value
        raise self.fail(f"expected a number, a variable or an operation, found {self.found()}")

    def name(self) -> Size:
        start = self.position
        name = self.take()
        if name in _OPERATIONS:
            self.expect("(", f"after {name}")
            x = self.sum()
            self.expect(",", f"between the two operands of {name}")
            y = self.sum()
            self.expect(")", f"after the two operands of {name}")
            if name in ("floordiv", "mod") and type(y) is int and y == 0:
                raise self.fail(f"{name} by zero", start)
            return _OPERATIONS[name](x, y)
        if self.at("("):
            raise self.fail(
                f"unknown operation '{name}'; there are {', '.join(sorted(_OPERATIONS))}", start
            )
        return expression.variable(self.scope, name)

    def end(self) -> None:
        if self.group == "end":
            return
        hint = ""
        if self.at("//"):
            hint = "; write floordiv(x, y)"
        elif self.at("%"):
            hint = "; write mod(x, y)"
        elif self.group in ("name", "number") or self.at("("):
            hint = "; a product needs '*'"
        raise self.fail(f"unexpected {self.found()}{hint}")


def parse_dimension(scope: Scope, text: str) -> Size:
    """Parse the size that ``text`` describes."""
    parser = _Parser(scope, text, "symbolic dimension")
    value = parser.sum()
    parser.end()
    return value


_COMPARISONS = (">=", "<=", "==")


def parse_constraint(scope: Scope, text: str) -> tuple[Size, str, Size]:
    """Parse a constraint such as ``"a >= 2*b"`` to ``(lhs, comparison, rhs)``."""
    parser = _Parser(scope, text, "symbolic constraint")
    lhs = parser.sum()
    if not parser.at(*_COMPARISONS):
        hint = ""
        if parser.at(">", "<"):
            hint = "; sizes are integers: write `x > y` as `x >= y + 1`"
        raise parser.fail(
            "Constraint parsing error: must contain one of '==' or '>=' or '<=',"
            f" found {parser.found()}{hint}"
        )
    op = parser.take()
    rhs = parser.sum()
    parser.end()
    return lhs, op, rhs


def parse_shape(scope: Scope, text: str, like: Sequence[Any] | None) -> tuple[Size, ...]:
    """Parse the shape that ``text`` describes; fill in placeholders from ``like``."""
    parser = _Parser(scope, text, "symbolic shape")
    closing = None
    if parser.at("(") and _is_parenthesized(text):
        parser.take()
        closing = ")"
    shape: list[Size] = []
    while not (
        parser.group == "end"
        or (closing and parser.at(closing) and parser.next >= len(text.rstrip()))
    ):
        if parser.at("..."):
            shape.extend(_ellipsis_sizes(parser, like, len(shape)))
            parser.take()
            if parser.at(","):
                raise parser.fail("'...' must be the last entry")
            break
        shape.append(_parse_entry(parser, like, len(shape)))
        if not parser.at(","):
            break
        parser.take()
    if closing:
        parser.expect(closing, "to close the shape")
    parser.end()
    return tuple(shape)


def _is_parenthesized(text: str) -> bool:
    """Return whether the first parenthesis closes at the end, unlike ``(a + 1)*(b + 1)``."""
    depth = 0
    stripped = text.strip()
    for i, c in enumerate(stripped):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(stripped) - 1
    return True


def _ellipsis_sizes(parser: _Parser, like: Sequence[Any] | None, start: int) -> Sequence[Size]:
    if like is None:
        raise parser.fail("'...' needs a shape to fill in from, and no like= was given")
    if start > len(like):
        raise parser.fail(f"there are already {start} dimensions, more than in like={tuple(like)}")
    rest = like[start:]
    if any(d is None for d in rest):
        raise parser.fail(f"'...' stands for sizes that like={tuple(like)} does not know")
    return rest


def _parse_entry(parser: _Parser, like: Sequence[Any] | None, index: int) -> Size:
    start = parser.position
    if parser.group == "name" and parser.token == "_":
        parser.take()
        if like is None:
            raise parser.fail("'_' needs a shape to fill in from, and no like= was given", start)
        if index >= len(like) or like[index] is None:
            raise parser.fail(
                f"'_' has no known size at position {index} of like={tuple(like)}", start
            )
        return like[index]
    value = parser.sum()
    known = like[index] if like is not None and index < len(like) else None
    if type(value) is int and known is not None and (type(known) is not int or known != value):
        raise parser.fail(
            f"different size {value} for known dimension {known} of like={tuple(like or ())}", start
        )
    return value
