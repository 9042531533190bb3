"""Find the mesh axes and the devices of a collective."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from sagax._plan.hlo import Instruction
from sagax._src.primitives.unsupported import UnsupportedError


class Groups(NamedTuple):
    """The groups of devices that exchange data: one row each, positions in the mesh."""

    rows: np.ndarray
    pairs: bool  # rows are (from, to)


def groups_of(instruction: Instruction, count: int) -> Groups:
    """Read the groups of a collective over `count` devices."""
    pairs = instruction.attribute("source_target_pairs")
    if pairs is not None:
        return Groups(_numbers(pairs).reshape(-1, 2), True)
    text = instruction.attribute("replica_groups") or ""
    if text.startswith("{") or not text:
        rows = [_numbers(row) for row in re.findall(r"\{([\d,]*)\}", text)]
        if not rows or not rows[0].size:
            return Groups(np.arange(count).reshape(1, -1), False)
        return Groups(np.array(rows), False)
    if text.startswith("["):
        return Groups(_iota(text), False)
    if text.startswith("mesh["):
        return Groups(_mesh_axes(text), False)
    raise UnsupportedError(f"groups of devices written as {text!r}", function="plan")


def _numbers(text: str) -> np.ndarray:
    return np.array([int(n) for n in re.findall(r"\d+", text)], int)


def _iota(text: str) -> np.ndarray:
    """Read `[2,4]<=[4,2]T(1,0)`: the numbers in order, in the second shape, transposed, in the first."""
    found = re.fullmatch(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
    if found is None:
        raise UnsupportedError(f"groups of devices written as {text!r}", function="plan")
    shape, source = _numbers(found[1]), _numbers(found[2])
    numbers = np.arange(math.prod(source)).reshape(source)
    if found[3]:
        numbers = numbers.transpose(_numbers(found[3]))
    return numbers.reshape(shape)


def _mesh_axes(text: str) -> np.ndarray:
    """Read `mesh['a'=4,'b'=2] {'b'}`: the groups along some axes of a mesh, or parts `'a':(1)2` of them."""
    found = re.fullmatch(r"mesh\[(.*?)\](?:, device_ids=\(?\[?([\d,]*)\]?\)?)?\s*\{(.*)\}", text)
    if found is None:
        raise UnsupportedError(f"groups of devices written as {text!r}", function="plan")
    sizes = {name: int(n) for name, n in re.findall(r"'([^']*)'=(\d+)", found[1])}
    used = re.findall(r"'([^']*)'(?::\((\d+)\)(\d+))?", found[3])
    # each axis is split into the parts that are named, major first
    dims: list[
        tuple[str, int, int]
    ] = []  # axis, product of the sizes before it within the axis, size
    for name, size in sizes.items():
        cuts = {1, size}
        for other, before, part in used:
            if other == name and before:
                cuts |= {int(before), int(before) * int(part)}
        ordered = sorted(cuts)
        dims += [(name, a, b // a) for a, b in zip(ordered, ordered[1:], strict=False)]
    numbers = _numbers(found[2]) if found[2] else np.arange(math.prod(sizes.values()))
    numbers = numbers.reshape([n for _, _, n in dims])
    along = []
    for name, before, part in used:
        first, last = (int(before), int(before) * int(part)) if before else (1, sizes[name])
        along += [
            i for i, (a, b, n) in enumerate(dims) if a == name and first <= b and b * n <= last
        ]
    rest = [i for i in range(len(dims)) if i not in along]
    size = math.prod([dims[i][2] for i in along])
    return numbers.transpose([*rest, *along]).reshape(-1, size)


def axes_of(groups: Groups, names: tuple[str, ...], sizes: tuple[int, ...]) -> tuple[str, ...]:
    """Return the mesh axes along which data is exchanged.

    >>> axes_of(Groups(np.array([[0, 1], [2, 3]]), False), ("data", "tensor"), (2, 2))
    ('tensor',)
    """
    rows = groups.rows if groups.pairs else groups.rows[:1]
    coordinates = np.array(np.unravel_index(rows, sizes))  # axis, group, member
    differs = (coordinates != coordinates[:, :, :1]).any(axis=(1, 2))
    return tuple([name for name, d in zip(names, differs, strict=True) if d])


def nodes_of(groups: Groups, per_node: int) -> tuple[int, int]:
    """Return the size of the groups, and over how many nodes the widest of them is spread."""
    nodes = groups.rows // per_node
    if len(nodes) == 0:
        return 1, 1
    if groups.pairs:
        return 2, 1 + int((nodes[:, 0] != nodes[:, 1]).any())
    ordered = np.sort(nodes, axis=1)
    spread = 1 + (np.diff(ordered, axis=1) != 0).sum(axis=1)
    return groups.rows.shape[1], int(spread.max(initial=1))
