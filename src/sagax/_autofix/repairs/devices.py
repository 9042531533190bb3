"""Repair computations on arrays that are committed to different devices."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, base_name
from sagax._autofix.repairs.source_file import Source, argument
from sagax._autofix.repairs.transform_options import arguments_passed


def move_to_one_device(case: Case) -> Iterator[Candidate]:
    """Move one of two arrays to the device of the other."""
    if "device" not in case.facts.message:
        return
    for source, one, other in _device_conflicts(case):
        put, imports = source.spell("jax.device_put")
        for here, there in ((one, other), (other, one)):
            moved, target = source.code(here[0]), source.primary(there[0])
            text = f"{put}({moved}, {target}{there[1]}.sharding)"
            title = f"move `{moved}` to the device of `{target}`"
            yield Candidate("device_put", title, (source.replace(here[0], text), *imports), 1)


def fit_mesh_to_devices(case: Case) -> Iterator[Candidate]:
    """Make a mesh of one axis as long as there are devices."""
    if not re.search(
        r"Number of devices \d+ must be >= .* mesh_shape \(\d+,\)", case.facts.message
    ):
        return
    for source, node in case.located(reversed(case.facts.frames)):
        for call in source.calls_of("jax.make_mesh", within=source.statement(node)):
            shape = argument(call, 0, "axis_shapes")
            if shape is None:
                continue
            count, imports = source.spell("jax.device_count")
            title = "make the mesh of the devices that there are"
            edits = (source.replace(shape, f"({count}(),)"), *imports)
            yield Candidate("device_count", title, edits, 1)
            return


_Operand = tuple[ast.expr, str]  # an expression, and the path to the array in it


def _device_conflicts(case: Case) -> Iterator[tuple[Source, _Operand, _Operand]]:
    """Yield the pairs of expressions on different devices: arguments of one call, or operands."""
    paths = case.facts.diagnostic.depends
    for source, node in case.located(reversed(case.facts.frames) if len(paths) == 2 else ()):
        if not isinstance(node, ast.Call):
            continue
        passed = arguments_passed(case, source, node)
        given = [(passed.get(base_name(p)), p.removeprefix(base_name(p))) for p in paths]
        (one, path), (other, there) = given
        if one is not None and other is not None:
            yield source, (one, path), (other, there)
            return
    source, node = case.source, case.node
    if source is None or node is None:
        return
    within = node if isinstance(node, ast.expr) else source.statement(node)
    for operation in source.nodes((ast.BinOp, ast.Call), within):  # type: ignore[arg-type]
        if isinstance(operation, ast.BinOp):
            yield source, (operation.left, ""), (operation.right, "")
        elif source.meaning(operation.func).startswith("jax."):
            args = [a for a in operation.args if not isinstance(a, (ast.Constant, ast.Starred))]
            if len(args) == 1 and isinstance(args[0], (ast.List, ast.Tuple)):
                args = list(args[0].elts)
            for other in args[1:]:
                yield source, (args[0], ""), (other, "")
