"""What there is to say about a random key that is used twice: both places, and how to split it."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from sagax._src.diagnostics.base import Details
from sagax._src.diagnostics.model import Label, Span, Suggestion, Trust
from sagax._src.diagnostics.spans import is_sagax, is_users, shown_path, user_span

__all__ = ["apart", "innermost", "reuse_details"]


def reuse_details(facts: dict[str, Any]) -> Details:
    """Of the facts `first` and `traceback` (stacks of the two uses), `first_inside` and
    `second_inside` (of those inside of the functions that were called), `after_split` (the first use
    is a split) and `loop` (the kind of loop whose body is at fault)."""
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
    for which, name in (("first_inside", "first"), ("second_inside", "second")):
        inside = user_span(facts.get(which))
        outer = first if name == "first" else second
        # Programs are shared by functions of the same meaning: what was traced for a call elsewhere
        # knows the lines of that call.
        if inside is None or outer is None or inside.file != outer.file:
            continue
        if inside not in (first, second):
            notes.append(f"the {name} use is inside of the function: {_shown(inside)}")
    return Details(tuple(dict.fromkeys(notes)), tuple(labels), (_advice(facts, first, second),))


def _shown(span: Span) -> str:
    text = " ".join(span.text.split())
    return f"{shown_path(span.file)}:{span.line}: {text}"


def innermost(stacks: Sequence[Any]) -> Any:
    """Of the stacks of a use and of the uses inside of the functions that were called: the last one
    whose operation the user wrote. What is in functions of sagax was traced for whoever called them
    first, and says nothing of this call."""
    found = None
    for stack in stacks:
        if not _is_users_own(stack):
            break
        found = stack
    return found


class _Outer:
    """A captured stack without its innermost frames."""

    def __init__(self, stack: Any, skipped: int) -> None:
        self.frames = [part[skipped:] for part in stack.raw_frames()]

    def raw_frames(self) -> list[Any]:
        return self.frames


def apart(first: Any, second: Any) -> tuple[Any, Any]:
    """Two stacks, from the innermost of the user's frames in which they differ: where a function that
    draws was called twice, its callers. As they are if they do not differ."""
    if first is None or second is None:
        return first, second
    for i, j in zip(_users_frames(first), _users_frames(second), strict=False):
        (codes, offsets), (others, theirs) = first.raw_frames(), second.raw_frames()
        if codes[i] is not others[j] or offsets[i] != theirs[j]:
            return _Outer(first, i), _Outer(second, j)
    return first, second


def _users_frames(stack: Any) -> list[int]:
    return [i for i, code in enumerate(stack.raw_frames()[0]) if is_users(code.co_filename)]


def _is_users_own(stack: Any) -> bool:
    for code in stack.raw_frames()[0]:
        if is_users(code.co_filename):
            return True
        if code.co_name == "_trace_now" and is_sagax(code.co_filename):
            return False
    return False


def _advice(facts: dict[str, Any], first: Span | None, second: Span | None) -> Suggestion:
    random, key = _call(second) or _call(first) or ("jax.random", "key")
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
    return Suggestion("split_key", text, trust=Trust.TEMPLATE)


def _call(span: Span | None) -> tuple[str, str] | None:
    """How an expression such as `jax.random.normal(key, (3,))` names the module and the key."""
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
    module = ast.unparse(node.func).rpartition(".")[0]
    known = module.endswith("random") or module in ("jr", "jrandom", "jrand")
    if not known and not re.search(r"key|rng|seed", argument):
        return None  # the key may be anywhere in it
    return (module if known else "jax.random"), argument
