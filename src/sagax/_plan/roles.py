"""Find out what a step does with its arguments, to propose shardings: which dimensions to cut for what."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sagax._plan.memory import PARAMETERS, STATE
from sagax._src.core.families import passes_elements
from sagax._src.core.jaxpr import Eqn, Jaxpr, Literal, subjaxprs
from sagax._src.higher_order.scan import scan_p
from sagax._src.primitives.arithmetic import mul_p
from sagax._src.primitives.dot_general import dot_general_p


@dataclass
class Role:
    """The use that a step makes of an argument.

    `tensor`: the dimension to cut for tensor parallelism, `layers`: dimensions along which a scan takes one
    entry at a time, which are not cut.
    """

    category: str
    shape: tuple[int, ...]
    tensor: int | None = None
    layers: set[int] = field(default_factory=set)


def give_state_the_roles_of_parameters(roles: Sequence[Role], names: Sequence[str]) -> None:
    """Let state of the optimizer be cut as the parameter of its shape, that of the most similar name if there are several."""
    parameters = [i for i, r in enumerate(roles) if r.category == PARAMETERS]
    for i, role in enumerate(roles):
        same = [k for k in parameters if roles[k].shape == role.shape]
        if role.category != STATE or not same:
            continue
        best = max(same, key=lambda k: _common_end(names[k], names[i]))
        role.tensor, role.layers = roles[best].tensor, set(roles[best].layers)


def _common_end(a: str, b: str) -> int:
    return len(os.path.commonprefix((a[::-1], b[::-1])))


class _Value(NamedTuple):
    """Facts of a value: the argument it is a part of, with the dimensions, or whether it is cut."""

    argument: int | None
    dimensions: tuple[int, ...]
    cut: bool


_NOTHING = _Value(None, (), False)


def roles_of(jaxpr: Jaxpr, categories: Sequence[str]) -> list[Role]:
    """Return the role of each argument, by following the products in order.

    The product of an activation that is whole with a parameter cuts the parameter along the dimension that
    remains, which leaves the result cut; a product of a cut activation cuts the parameter along the
    dimension that it sums over, which leaves the result whole. So two products take one exchange.
    """
    variables = [*jaxpr.constvars, *jaxpr.invars]
    roles = [Role(c, tuple(v.aval.shape)) for c, v in zip(categories, variables, strict=True)]
    known = {
        v: _Value(i, tuple(range(len(r.shape))), False) if r.category == PARAMETERS else _NOTHING
        for i, (v, r) in enumerate(zip(variables, roles, strict=True))
    }
    _follow(jaxpr, known, roles)
    return roles


def _follow(jaxpr: Jaxpr, known: dict, roles: list[Role]) -> list[_Value]:
    def value(v: object) -> _Value:
        return _NOTHING if isinstance(v, Literal) else known.get(v, _NOTHING)

    for eqn in jaxpr.eqns:
        ins = [value(v) for v in eqn.invars]
        inner = subjaxprs(eqn.params)
        outs: list[_Value]
        if len(inner) == 1 and len(inner[0].invars) == len(ins):
            body = inner[0]
            passed = list(ins)
            if eqn.primitive is scan_p:
                passed = _scanned(eqn, ins, body, roles)
            outs = _follow(body, dict(zip(body.invars, passed, strict=True)), roles)
            if len(outs) != len(eqn.outvars):
                outs = [_Value(None, (), any(x.cut for x in ins))] * len(eqn.outvars)
            if eqn.primitive is scan_p:  # stacked results have other dimensions
                outs = [x if x.argument is None else _NOTHING for x in outs]
        elif eqn.primitive is dot_general_p:
            outs = [_product(eqn, ins, roles)]
        else:
            outs = [_part(eqn, ins, v) for v in eqn.outvars]
        known.update(zip(eqn.outvars, outs, strict=True))
    return [value(v) for v in jaxpr.outvars]


def _scanned(eqn: object, ins: list[_Value], body: Jaxpr, roles: list[Role]) -> list[_Value]:
    """Return the values in the body of a scan: those that it iterates over lose their first dimension."""
    found = []
    for v, outer, x in zip(body.invars, eqn.invars, ins, strict=True):  # type: ignore[attr-defined]
        ranks = len(getattr(outer.aval, "shape", ())) - len(getattr(v.aval, "shape", ()))
        if x.argument is not None and ranks == 1:
            roles[x.argument].layers.add(x.dimensions[0])
            x = x._replace(dimensions=x.dimensions[1:])
        found.append(x)
    return found


def _product(eqn: object, ins: list[_Value], roles: list[Role]) -> _Value:
    (left, right) = ins[:2]
    if (left.argument is None) == (right.argument is None):
        return _Value(None, (), left.cut or right.cut)
    at = 0 if left.argument is not None else 1
    parameter, other = ins[at], ins[1 - at]
    numbers = eqn.params["dimension_numbers"]  # type: ignore[attr-defined]
    contracted = tuple(numbers[0][at])
    role = roles[parameter.argument or 0]
    if role.tensor is not None:
        return _Value(None, (), role.tensor not in [parameter.dimensions[i] for i in contracted])
    if other.cut:
        fitting = [parameter.dimensions[i] for i in contracted]
    else:
        batch = tuple(numbers[1][at])
        free = [i for i in range(len(parameter.dimensions)) if i not in (*contracted, *batch)]
        fitting = [parameter.dimensions[i] for i in free]
    if not fitting:
        return _Value(None, (), other.cut)
    role.tensor = max(fitting, key=lambda i: role.shape[i])
    return _Value(None, (), not other.cut)


def _part(eqn: Eqn, ins: list[_Value], out: object) -> _Value:
    """Return what is known of the result of another operation: a part of an argument, if it is one."""
    shape = tuple(getattr(out.aval, "shape", ()))  # type: ignore[attr-defined]
    name = eqn.primitive.name  # type: ignore[attr-defined]
    of_arguments = [x for x in ins if x.argument is not None]
    cut = any(x.cut for x in ins)
    if len(of_arguments) == 1 and not cut:
        source = of_arguments[0]
        operand = eqn.invars[ins.index(source)]  # type: ignore[attr-defined]
        sizes = tuple(operand.aval.shape)
        if name == "transpose":
            order = eqn.params["permutation"]  # type: ignore[attr-defined]
            return source._replace(dimensions=tuple([source.dimensions[i] for i in order]))
        if name in ("slice", "dynamic_slice"):
            return source
        kept = _subsequence(shape, sizes)
        if kept is not None and (passes_elements(eqn) or eqn.primitive is mul_p):
            return source._replace(dimensions=tuple([source.dimensions[i] for i in kept]))
    return _Value(None, (), cut)


def _subsequence(part: tuple, whole: tuple) -> list[int] | None:
    found, at = [], 0
    for n in part:
        while at < len(whole) and whole[at] != n:
            at += 1
        if at == len(whole):
            return None
        found.append(at)
        at += 1
    return found
