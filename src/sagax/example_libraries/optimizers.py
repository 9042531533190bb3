"""Optimize by gradients: triples `init(params)`, `update(step, gradients, state)`, `get(state)`.

Each is written for one array and works for every pytree of arrays. A step size is a number or a
schedule, a function from the number of the step to one.

>>> import sagax
>>> import sagax.numpy as snp
>>> from sagax.example_libraries import optimizers
>>> init, update, get = optimizers.momentum(0.1, mass=0.9)
>>> state = init({"w": snp.ones(2)})
>>> for step in range(100):
...     state = update(step, sagax.grad(lambda p: snp.sum(p["w"] ** 2))(get(state)), state)
>>> float(abs(get(state)["w"]).max()) < 0.1
True
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import sagax.numpy as snp
from sagax._src import trees
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, TreeError
from sagax.numpy._base import promotes_freely

Schedule = Callable[[Any], Any]

# --- from arrays to pytrees ----------------------------------------------------------------------------


class Optimizer(NamedTuple):
    """The three functions of an optimizer."""

    init_fn: Callable[[Any], Any]
    update_fn: Callable[[Any, Any, Any], Any]
    params_fn: Callable[[Any], Any]


class OptimizerState(NamedTuple):
    """The states of all arrays of a pytree: their leaves, that pytree's structure, and theirs."""

    packed_state: Any
    tree_def: Any
    subtree_defs: Any


trees.register_pytree_node(
    OptimizerState,
    lambda s: ((s.packed_state,), (s.tree_def, s.subtree_defs)),
    lambda aux, children: OptimizerState(children[0], *aux),
)


class JoinPoint:
    """Hold the state of one array in `unpack_optimizer_state`, opaque to tree functions."""

    def __init__(self, subtree: Any) -> None:
        self.subtree = subtree


def optimizer(opt_maker: Callable[..., tuple[Any, Any, Any]]) -> Callable[..., Optimizer]:
    """Extend an optimizer of one array to pytrees. A decorator.

    >>> @optimizers.optimizer
    ... def plain(step_size):
    ...     return lambda x: x, lambda i, g, x: x - step_size * g, lambda x: x
    >>> init, update, get = plain(0.5)
    >>> [float(x) for x in get(update(0, [2.0, 4.0], init([1.0, 1.0])))]
    [0.0, -1.0]
    """

    @functools.wraps(opt_maker)
    def make(*args: Any, **kwargs: Any) -> Optimizer:
        init_one, update_one, get_one = opt_maker(*args, **kwargs)

        def init(params: Any) -> OptimizerState:
            leaves, treedef = trees.tree_flatten(params)
            return _packed([init_one(x) for x in leaves], treedef)

        def update(i: Any, grads: Any, state: OptimizerState) -> OptimizerState:
            states = _states(state)
            leaves, treedef = trees.tree_flatten(grads)
            if treedef != state.tree_def:
                raise TreeError(
                    "the gradients have another structure than the parameters",
                    function="optimizer update",
                    expected=str(state.tree_def),
                    got=str(treedef),
                )
            new = [update_one(i, g, s) for g, s in zip(leaves, states, strict=True)]
            found = _packed(new, treedef)
            if found.subtree_defs != state.subtree_defs:
                raise TreeError(
                    "the update changed the structure of the state",
                    function="optimizer update",
                    expected=str(state.subtree_defs),
                    got=str(found.subtree_defs),
                )
            return found

        def get(state: OptimizerState) -> Any:
            return trees.tree_unflatten(state.tree_def, [get_one(s) for s in _states(state)])

        return Optimizer(init, update, get)

    return make


def _packed(states: Sequence[Any], treedef: Any) -> OptimizerState:
    flat = [trees.tree_flatten(s) for s in states]
    return OptimizerState(
        tuple(tuple(leaves) for leaves, _ in flat), treedef, tuple(d for _, d in flat)
    )


def _states(state: OptimizerState) -> list[Any]:
    pairs = zip(state.subtree_defs, state.packed_state, strict=True)
    return [trees.tree_unflatten(d, leaves) for d, leaves in pairs]


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """Convert the state to a pytree like the parameters, with a `JoinPoint` for each array.

    >>> init, _, _ = optimizers.momentum(0.1, 0.9)
    >>> [float(x) for x in optimizers.unpack_optimizer_state(init({"w": 1.0}))["w"].subtree]
    [1.0, 0.0]
    """
    return trees.tree_unflatten(opt_state.tree_def, list(map(JoinPoint, _states(opt_state))))


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """Invert `unpack_optimizer_state`.

    >>> init, _, get = optimizers.sgd(0.1)
    >>> get(optimizers.pack_optimizer_state(optimizers.unpack_optimizer_state(init({"w": 1.0}))))
    {'w': 1.0}
    """
    points, treedef = trees.tree_flatten(marked_pytree)
    if not all(isinstance(p, JoinPoint) for p in points):
        raise ArgumentError(
            function="pack_optimizer_state",
            argument="marked_pytree",
            expected="a tree whose leaves are JoinPoints",
            got=marked_pytree,
        )
    return _packed([p.subtree for p in points], treedef)


# --- optimizers ------------------------------------------------------------------------------------------


@optimizer
def sgd(step_size: float | Schedule) -> tuple:
    """Build an optimizer by gradient descent.

    >>> init, update, get = optimizers.sgd(0.25)
    >>> float(get(update(0, 2.0, init(1.0))))
    0.5
    """
    step_size = make_schedule(step_size)
    return lambda x: x, lambda i, g, x: x - step_size(i) * g, lambda x: x


def _with_zeros(count: int, update: Callable[..., tuple]) -> tuple:
    """Build an optimizer whose state is the parameter, then `count` arrays that start as zeros."""

    def init(x: Any) -> tuple:
        return (x, *[snp.zeros_like(x) for _ in range(count)])

    return init, update, lambda state: state[0]


@optimizer
def momentum(step_size: float | Schedule, mass: float) -> tuple:
    """Build gradient descent with momentum: the velocity decays by the factor `mass`.

    >>> init, update, get = optimizers.momentum(0.25, 0.5)
    >>> float(get(update(1, 2.0, update(0, 2.0, init(1.0)))))
    -0.25
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, velocity = state
        velocity = mass * velocity + g
        return x - step_size(i) * velocity, velocity

    return _with_zeros(1, update)


@optimizer
def nesterov(step_size: float | Schedule, mass: float) -> tuple:
    """Build gradient descent with Nesterov's momentum, which looks one step ahead.

    >>> init, update, get = optimizers.nesterov(0.25, 0.5)
    >>> float(get(update(0, 2.0, init(1.0))))
    0.25
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, velocity = state
        velocity = mass * velocity + g
        return x - step_size(i) * (mass * velocity + g), velocity

    return _with_zeros(1, update)


@promotes_freely
def _power(base: float, exponent: Any, dtype: Any) -> Any:
    return snp.asarray(base, dtype) ** exponent


def _inverse_root(squares: Any) -> Any:
    """Compute 1 / sqrt of positive numbers, 0 elsewhere."""
    return snp.where(squares > 0, 1.0 / snp.sqrt(snp.where(squares > 0, squares, 1.0)), 0.0)


@optimizer
def adagrad(step_size: float | Schedule, momentum: float = 0.9) -> tuple:
    """Build Adagrad (Duchi, Hazan, Singer, JMLR 12, 2011) with momentum.

    Steps shrink with the sum of squared gradients.

    >>> init, update, get = optimizers.adagrad(0.5, momentum=0.0)
    >>> float(get(update(0, 2.0, init(1.0))))
    0.5
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, squares, mean = state
        squares = squares + snp.square(g)
        mean = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * mean
        return x - step_size(i) * mean, squares, mean

    return _with_zeros(2, update)


@optimizer
def rmsprop(step_size: float | Schedule, gamma: float = 0.9, eps: float = 1e-8) -> tuple:
    """Build RMSProp (Tieleman and Hinton, 2012).

    Steps are divided by a running mean of the gradient's size.

    >>> init, update, get = optimizers.rmsprop(0.5, gamma=0.75)
    >>> float(get(update(0, 2.0, init(1.0))))
    0.0
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, mean = state
        mean = gamma * mean + (1.0 - gamma) * snp.square(g)
        return x - step_size(i) * g / snp.sqrt(mean + eps), mean

    return _with_zeros(1, update)


@optimizer
def rmsprop_momentum(
    step_size: float | Schedule, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9
) -> tuple:
    """Build RMSProp with momentum.

    >>> init, update, get = optimizers.rmsprop_momentum(0.5, gamma=0.75)
    >>> float(get(update(0, 2.0, init(1.0))))
    0.0
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, mean, velocity = state
        mean = gamma * mean + (1.0 - gamma) * snp.square(g)
        velocity = momentum * velocity + step_size(i) * g / snp.sqrt(mean + eps)
        return x - velocity, mean, velocity

    return _with_zeros(2, update)


@optimizer
def adam(
    step_size: float | Schedule, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> tuple:
    """Build Adam (Kingma and Ba, 2015).

    It has running means of the gradient and of its square, corrected for their start.

    >>> init, update, get = optimizers.adam(0.5)
    >>> round(float(get(update(0, 2.0, init(1.0)))), 5)
    0.5
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, mean, squares = state
        mean = (1 - b1) * g + b1 * mean
        squares = (1 - b2) * snp.square(g) + b2 * squares
        first = mean / (1 - _power(b1, i + 1, mean.dtype))
        second = squares / (1 - _power(b2, i + 1, mean.dtype))
        return x - step_size(i) * first / (snp.sqrt(second) + eps), mean, squares

    return _with_zeros(2, update)


@optimizer
def adamax(
    step_size: float | Schedule, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> tuple:
    """Build Adamax, the form of Adam with the largest gradient in place of the mean square.

    >>> init, update, get = optimizers.adamax(0.5)
    >>> round(float(get(update(0, 2.0, init(1.0)))), 5)
    0.5
    """
    step_size = make_schedule(step_size)

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, mean, largest = state
        mean = (1 - b1) * g + b1 * mean
        largest = snp.maximum(b2 * largest, snp.abs(g))
        step = step_size(i) / (1 - _power(b1, i + 1, mean.dtype))
        return x - step * mean / (largest + eps), mean, largest

    return _with_zeros(2, update)


@optimizer
def sm3(step_size: float | Schedule, momentum: float = 0.9) -> tuple:
    """Build SM3 (Anil, Gupta, Koren, Singer, 2019): Adagrad with a number for each row and column.

    >>> init, update, get = optimizers.sm3(0.5, momentum=0.0)
    >>> float(get(update(0, 2.0, init(1.0))))
    0.5
    """
    step_size = make_schedule(step_size)

    def init(x: Any) -> tuple:
        x = snp.asarray(x)
        sums = [snp.zeros(n, x.dtype) for n in x.shape]
        return x, snp.zeros_like(x), sums or [snp.zeros_like(x)]

    def update(i: Any, g: Any, state: tuple) -> tuple:
        x, mean, sums = state
        along = [
            s.reshape([n if j == k else 1 for j, n in enumerate(x.shape)])
            for k, s in enumerate(sums)
        ]
        squares = functools.reduce(snp.minimum, along) + snp.square(g)
        mean = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * mean
        others = [tuple(j for j in range(x.ndim) if j != k) for k in range(len(sums))]
        return x - step_size(i) * mean, mean, [snp.max(squares, axis=o) for o in others]

    return init, update, lambda state: state[0]


# --- step sizes ------------------------------------------------------------------------------------------


def make_schedule(scalar_or_schedule: float | Schedule) -> Schedule:
    """Convert a number to a constant schedule; functions pass through.

    >>> optimizers.make_schedule(0.1)(7)
    0.1
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if not isinstance(scalar_or_schedule, str) and np.ndim(scalar_or_schedule) == 0:
        return constant(scalar_or_schedule)
    raise ArgumentError(
        function="make_schedule",
        argument="scalar_or_schedule",
        expected="a number, or a function of the step",
        got=scalar_or_schedule,
    )


def constant(step_size: float) -> Schedule:
    """Build a schedule of a constant step size.

    >>> optimizers.constant(0.1)(7)
    0.1
    """
    return lambda i: step_size


def exponential_decay(step_size: float, decay_steps: int, decay_rate: float) -> Schedule:
    """Build a schedule that multiplies the step size by `decay_rate` every `decay_steps` steps.

    >>> optimizers.exponential_decay(1.0, 10, 0.5)(20)
    0.25
    """
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: float, decay_steps: int, decay_rate: float, staircase: bool = False
) -> Schedule:
    """Build a schedule that divides the step size by 1 + `decay_rate` i / `decay_steps`.

    With `staircase` the fraction is rounded down.

    >>> optimizers.inverse_time_decay(1.0, 10, 1.0)(10)
    0.5
    """
    if staircase:
        return lambda i: step_size / (1 + decay_rate * snp.floor(i / decay_steps))
    return promotes_freely(lambda i: step_size / (1 + decay_rate * i / decay_steps))


def polynomial_decay(
    step_size: float, decay_steps: int, final_step_size: float, power: float = 1.0
) -> Schedule:
    """Build a schedule that falls to the final step size linearly, or as a power.

    >>> float(optimizers.polynomial_decay(1.0, 10, 0.0)(5))
    0.5
    """

    def schedule(i: Any) -> Any:
        left = 1 - snp.minimum(i, decay_steps) / decay_steps
        return left**power * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """Build a schedule of step size `values[k]` after `k` of the boundaries have been passed.

    >>> schedule = optimizers.piecewise_constant([10], [1.0, 0.1])
    >>> float(schedule(10)), float(schedule(11))
    (1.0, 0.10000000149011612)
    """
    boundaries, values = snp.asarray(boundaries), snp.asarray(values)
    if boundaries.ndim != 1 or values.ndim != 1 or values.shape[0] != boundaries.shape[0] + 1:
        raise ArgumentValueError(
            "boundaries length must be one shorter than values length",
            function="piecewise_constant",
            got=f"{boundaries.shape} and {values.shape}",
        )
    return lambda i: values[snp.sum(i > boundaries)]


# --- gradients -------------------------------------------------------------------------------------------


@promotes_freely
def l2_norm(tree: Any) -> Array:
    """Compute the root of the sum of the squares of all numbers in a pytree.

    >>> float(optimizers.l2_norm([np.array([3.0]), np.array([4.0])]))
    5.0
    """
    leaves = trees.tree_leaves(tree)
    return snp.sqrt(sum((snp.sum(snp.square(snp.abs(x))) for x in leaves), snp.zeros(())))


@promotes_freely
def clip_grads(grad_tree: Any, max_norm: float) -> Any:
    """Scale the gradients down where their `l2_norm` is more than `max_norm`.

    >>> optimizers.clip_grads(np.array([3.0, 4.0]), 2.5)
    Array([1.5, 2. ], dtype=float32)
    """
    norm = l2_norm(grad_tree)
    return trees.tree_map(lambda g: snp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)
