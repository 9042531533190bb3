"""Name the keyword of a public function where the caller used the one of another library: `dim` for `axis`.

Python raises the TypeError itself, before anything of sagax runs. The hint is added where the error passes a
transformation, or is printed.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

from sagax._src.diagnostics.spans import is_sagax

# What PyTorch, TensorFlow, NumPy's generators and older releases call it, and the names it may have here.
KEYWORDS = {
    "axes": ("axis",),
    "axis": ("axes", "dimension", "dimensions"),
    "begin": ("start_indices",),
    "correction": ("ddof",),
    "dim": ("axis", "axes", "dimension", "dimensions"),
    "dims": ("axis", "axes", "dimensions", "shape"),
    "exponent": ("x2", "y"),
    "fill": ("fill_value",),
    "full_matrix": ("full_matrices",),
    "generator": ("key",),
    "high": ("maxval",),
    "input": ("a", "x", "arr", "ary", "m", "array"),
    "input_tensor": ("a", "x"),
    "keep_dims": ("keepdims",),
    "keepdim": ("keepdims",),
    "logits": ("x",),
    "low": ("minval",),
    "max": ("maxval",),
    "min": ("minval",),
    "n_classes": ("num_classes",),
    "num_or_size_splits": ("indices_or_sections",),
    "other": ("x2", "y", "b"),
    "perm": ("axes",),
    "prob": ("p",),
    "reduction_indices": ("axis",),
    "replacement": ("replace",),
    "rng": ("key",),
    "seed": ("key",),
    "sections": ("indices_or_sections",),
    "size": ("shape",),
    "split_size_or_sections": ("indices_or_sections",),
    "tensor": ("a", "x"),
    "tensors": ("arrays", "xs"),
    "unbiased": ("ddof",),
    "values": ("arrays", "xs"),
}

_MESSAGE = re.compile(r"(?:[\w<>]+\.)*(\w+)\(\) got an unexpected keyword argument '(\w+)'")


def add_hint(error: BaseException) -> None:
    """Extend the message of a TypeError about a keyword that a public function lacks."""
    if type(error) is not TypeError or len(error.args) != 1 or not isinstance(error.args[0], str):
        return
    said = _MESSAGE.fullmatch(error.args[0])
    entry = error.__traceback__
    if said is None or entry is None:
        return
    frame = entry.tb_frame
    while entry is not None:
        frame, entry = entry.tb_frame, entry.tb_next
    for function in _callees(said[1], frame):
        if name := right_keyword(function, said[2]):
            error.args = (f"{said[0]}: `{said[1]}` calls it `{name}`",)
        return


def right_keyword(function: Any, wrong: str) -> str | None:
    """Return the parameter that `wrong` stands for, by the table or since it is spelled alike."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    known = [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if wrong in known:
        return None
    for name in KEYWORDS.get(wrong, ()):
        if name in known:
            return name
    near = difflib.get_close_matches(wrong, known, 1, 0.7)
    return near[0] if near else None


def _callees(name: str, frame: FrameType) -> Iterator[Any]:
    """Yield the public function of this name that a frame called: by itself, through a module or as a method."""
    if is_sagax(frame.f_code.co_filename):  # a wrapper of the public function
        function = frame.f_locals.get("fun") or frame.f_locals.get("function")
        if getattr(function, "__name__", None) == name:
            yield function
        return
    scope: dict[str, Any] = {**frame.f_globals, **frame.f_locals}
    if name in scope and name in (*frame.f_code.co_names, *frame.f_code.co_varnames):
        if _is_public(scope[name]):
            yield scope[name]
        elif callable(scope[name]):
            return
    if name not in frame.f_code.co_names:
        return
    for value in scope.values():
        if isinstance(value, ModuleType) and _is_public(found := vars(value).get(name)):
            yield found
    kinds: set[Any] = {type(value) for value in scope.values()}
    for kind in kinds:
        if hasattr(kind, "aval") and callable(found := getattr(kind, name, None)):
            yield found


def _is_public(value: Any) -> bool:
    module = getattr(value, "__module__", None)
    return callable(value) and isinstance(module, str) and module.split(".")[0] == "sagax"
