"""Mark values that `checkpoint` saves whatever its policy: the residuals of custom rules."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from contextvars import ContextVar
from typing import Any

from sagax._src import trees
from sagax._src.core.families import IDENTITY
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, f32
from sagax._src.primitives.structural import linear_rules

saved_p = Primitive(
    "saved_residual",
    family=IDENTITY,
    cost=1,
    rounds=True,
    key_rule=None,
    multilinear=True,
    exact=True,
    samples=[Sample(f32(3))],
)
saved_p.abstract_rule = lambda x: x
saved_p.reference_rule = lambda x: x
saved_p.lower_rule = lambda b, x: x
linear_rules(saved_p)


@saved_p.transpose
def _(ct: Any, x: Any) -> tuple:
    return (ct,)


@saved_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any]) -> tuple:
    return saved_p.bind(args[0]), in_dims[0]


def saved(residuals: Any) -> Any:
    """Return `residuals` (a pytree) as values that `checkpoint` saves."""
    return trees.map(saved_p.bind, residuals)


_active: ContextVar[bool] = ContextVar("sagax checkpoint is differentiated", default=False)


@contextlib.contextmanager
def differentiating_checkpoint() -> Generator[None]:
    """Context in which forward rules run for the derivative of a checkpointed function."""
    token = _active.set(True)
    try:
        yield
    finally:
        _active.reset(token)


def in_checkpoint() -> bool:
    """Return whether a checkpointed function is being differentiated."""
    return _active.get()
