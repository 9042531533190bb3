"""Draw random numbers from a generator with state, as NumPy's `default_rng` does.

The state is a reference: draws count up in it, also inside of jitted functions.

>>> from sagax.experimental import random
>>> rng = random.stateful_rng(42)
>>> float(rng.uniform()) != float(rng.uniform())
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.numpy as snp
import sagax.random as functions
from sagax._src import trees
from sagax._src.core.trace import evaluation, state
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.references import new_ref

__all__ = ["StatefulPRNG", "stateful_rng"]

Size = int | Sequence[int] | None


def _shape(size: Size, *parameters: Any) -> tuple:
    if size is None:
        return snp.broadcast_shapes(*[snp.shape(p) for p in parameters])
    return tuple(size) if isinstance(size, (tuple, list)) else (int(size),)  # type: ignore[arg-type]


class StatefulPRNG:
    """A random generator with state, made by `stateful_rng`; a pytree of a key and a counter.

    Every draw folds the counter into the key, and counts up. A generator is passed to functions and
    captured by them; it is not returned, and no loop carries it.

    >>> rng = random.stateful_rng(0)
    >>> rng.normal(size=(2, 3)).shape
    (2, 3)
    """

    __slots__ = ("_base_key", "_counter")

    def __init__(self, _base_key: Any, _counter: Any) -> None:
        self._base_key, self._counter = _base_key, _counter

    def __repr__(self) -> str:
        return f"StatefulPRNG(_base_key={self._base_key!r}, _counter={self._counter!r})"

    def key(self, shape: int | Sequence[int] = ()) -> Array:
        """Return a new key, or an array of keys."""
        if self._base_key.shape:
            raise ArgumentValueError(
                "a generator that was split draws for no single stream",
                function="StatefulPRNG",
                got=f"{self._base_key.shape} keys",
                fix="map over it: sagax.vmap(lambda rng: rng.uniform())(rngs)",
            )
        key = functions.fold_in(self._base_key, self._counter[...])
        self._counter.addupdate(1)
        sizes = _shape(shape)
        return functions.split(key, sizes) if sizes else key

    def random(self, size: Size = None, dtype: Any = float) -> Array:
        """Draw uniformly from [0, 1)."""
        return functions.uniform(self.key(), _shape(size), dtype)

    def uniform(
        self, low: Any = 0, high: Any = 1, size: Size = None, *, dtype: Any = float
    ) -> Array:
        """Draw uniformly from [low, high)."""
        shape = _shape(size, low, high)
        return functions.uniform(self.key(), shape, minval=low, maxval=high, dtype=dtype)

    def normal(
        self, loc: Any = 0, scale: Any = 1, size: Size = None, *, dtype: Any = float
    ) -> Array:
        """Draw from the normal distribution with this mean and standard deviation."""
        drawn = functions.normal(self.key(), _shape(size, loc, scale), dtype)
        return (snp.asarray(loc) + snp.asarray(scale) * drawn).astype(drawn.dtype)

    def integers(self, low: Any, high: Any = None, size: Size = None, *, dtype: Any = int) -> Array:
        """Draw integers from [low, high), or from [0, low)."""
        low, high = (0, low) if high is None else (low, high)
        shape = _shape(size, low, high)
        return functions.randint(self.key(), shape, minval=low, maxval=high, dtype=dtype)

    def split(self, num: int | Sequence[int]) -> StatefulPRNG:
        """Return generators as one, to map over."""
        return StatefulPRNG(self.key(num), new_ref(snp.zeros(_shape(num), int)))

    def spawn(self, n_children: int) -> list[StatefulPRNG]:
        """Return a list of independent generators."""
        keys = self.key(n_children)
        return [StatefulPRNG(keys[i], new_ref(snp.asarray(0))) for i in range(n_children)]


trees.register_pytree_node(
    StatefulPRNG,
    lambda rng: ((rng._base_key, rng._counter), None),
    lambda _, parts: StatefulPRNG(*parts),
)


def stateful_rng(seed: Any = None, *, impl: Any = None) -> StatefulPRNG:
    """Create a random generator with state.

    Args:
      seed: an integer; by default one from the operating system.
      impl: the random bit generator, as for `random.key`.

    Raises TypeError inside of a transformed function without a seed.

    >>> rng = random.stateful_rng(42)
    >>> draw = sagax.jit(rng.uniform)
    >>> float(draw()) != float(draw())
    True
    """
    if seed is None:
        if state.trace is not evaluation:
            raise ArgumentError(
                "a generator inside of a transformed function needs a seed",
                function="stateful_rng",
                argument="seed",
                got=None,
                fix="pass a seed, or create the generator outside and pass it in",
            )
        seed = np.int64(int(np.random.SeedSequence().entropy) & np.iinfo(np.int64).max)  # type: ignore[arg-type]
    return StatefulPRNG(functions.key(seed, impl=impl), new_ref(snp.asarray(0)))
