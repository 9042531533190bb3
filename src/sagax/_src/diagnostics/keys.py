"""Explain the reuse of a random key: both uses, and advice to split it."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from typing import Any

from sagax._src.diagnostics.base import Details
from sagax._src.diagnostics.headlines import reuse_headline
from sagax._src.diagnostics.model import Label, Span, Suggestion, Trust
from sagax._src.diagnostics.spans import display_path, is_sagax, is_user_file, user_span


def reuse_details(facts: dict[str, Any]) -> Details:
    """Explain the reuse of a key from the facts of the error.

    These are `first` and `traceback` (the stacks of both uses), `first_inside` and `second_inside` (the
    stacks inside called functions), `after_split` (the first use is a split) and `loop` (the kind of
    loop whose body reuses the key).
    """
    if "first" not in facts:
        return Details()
    second = user_span(facts.get("traceback"))
    first = user_span(facts["first"])
    labels: list[Label] = []
    notes: list[str] = []
    if first is not None and second is not None:
        if (first.file, first.line, first.column) != (second.file, second.line, second.column):
            labels.append(Label(first, "first used here"))
        elif facts.get("loop"):
            notes.append("first used by the same expression, in the round before")
        else:
            notes.append("first used by the same expression, when it ran before")
    for name, outer in (("first", first), ("second", second)):
        inside = user_span(facts.get(f"{name}_inside"))
        # Equal functions share a jaxpr, which has the lines of the call that traced it.
        if inside is None or outer is None or inside.file != outer.file:
            continue
        if inside not in (first, second):
            notes.append(f"the {name} use is inside of the function: {_location_text(inside)}")
    _, key = _parse_random_call(second) or _parse_random_call(first) or ("", "")
    return Details(
        tuple(dict.fromkeys(notes)),
        tuple(labels),
        (_advice(facts, first, second),),
        headline=reuse_headline(first, second, key, facts.get("loop", "")),
    )


def _location_text(span: Span) -> str:
    text = " ".join(span.text.split())
    return f"{display_path(span.file)}:{span.line}: {text}"


def innermost_user_stack(stacks: Sequence[Any]) -> Any:
    """Return the innermost stack of a use whose operation the user wrote.

    The stacks run from a use into the called functions. Those inside functions of sagax belong to the
    call that traced them first.
    """
    own = list(itertools.takewhile(_is_user_operation, stacks))
    return own[-1] if own else None


class _TrimmedStack:
    """Hold a captured stack without its innermost frames."""

    def __init__(self, stack: Any, skipped: int) -> None:
        self.frames = [part[skipped:] for part in stack.raw_frames()]

    def raw_frames(self) -> list[Any]:
        return self.frames


def trim_common_frames(first: Any, second: Any) -> tuple[Any, Any]:
    """Trim two stacks to the innermost user frames that differ, such as two calls of one function.

    Equal stacks are returned unchanged.
    """
    if first is None or second is None:
        return first, second
    for i, j in zip(_user_frames(first), _user_frames(second), strict=False):
        (codes, offsets), (others, theirs) = first.raw_frames(), second.raw_frames()
        if codes[i] is not others[j] or offsets[i] != theirs[j]:
            return _TrimmedStack(first, i), _TrimmedStack(second, j)
    return first, second


def _user_frames(stack: Any) -> list[int]:
    return [i for i, code in enumerate(stack.raw_frames()[0]) if is_user_file(code.co_filename)]


def _is_user_operation(stack: Any) -> bool:
    for code in stack.raw_frames()[0]:
        if is_user_file(code.co_filename):
            return True
        if code.co_name == "_trace_now" and is_sagax(code.co_filename):
            return False
    return False


def _advice(facts: dict[str, Any], first: Span | None, second: Span | None) -> Suggestion:
    random, key = _parse_random_call(second) or _parse_random_call(first) or ("jax.random", "key")
    if facts.get("loop") == "scan":
        text = (
            f"give each round a key of its own: split {key} outside of the loop and pass "
            f"{random}.split({key}, length) as xs, or carry it and split it in the body: "
            f"{key}, part = {random}.split({key})"
        )
    elif facts.get("loop"):
        text = (
            f"carry the key and split it in the body: {key}, part = {random}.split({key}); "
            f"or derive one from the counter: {random}.fold_in({key}, i)"
        )
    elif facts.get("after_split"):
        text = f"use only the keys that split gave, and no longer {key} itself: {key}, part = {random}.split({key})"
    elif first is not None and first == second:
        text = f"split {key} each time, and use the part: {key}, part = {random}.split({key})"
    else:
        text = f"split {key} before its first use, and use each part once: {key}, part = {random}.split({key})"
    return Suggestion("split_key", text, trust=Trust.ADVICE)


def _parse_random_call(span: Span | None) -> tuple[str, str] | None:
    """Return the texts of module and key in an expression such as `jax.random.normal(key, (3,))`."""
    if span is None or not span.text:
        return None
    try:
        node = ast.parse(span.text.strip(), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(node, ast.Call) or not node.args:
        return None
    argument = ast.unparse(node.args[0])
    if not isinstance(node.args[0], ast.Name | ast.Attribute | ast.Subscript):
        return None
    named = isinstance(node.func, ast.Name | ast.Attribute)  # unlike vmap(random.normal)(keys)
    module = ast.unparse(node.func).rpartition(".")[0] if named else ""
    known = module.endswith("random") or module in ("jr", "jrandom", "jrand")
    if not known and not re.search(r"key|rng|seed", argument):
        return None  # the key may be anywhere in it
    return (module if known else "jax.random"), argument
