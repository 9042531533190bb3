"""Define custom random generators, and list those of sagax.

>>> import sagax
>>> from sagax.extend import random
>>> sagax.random.bits(sagax.random.key(0, impl=random.rbg_prng_impl)).dtype
dtype('uint32')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sagax.numpy as snp
from sagax._src.api.vmap import vmap
from sagax._src.core.value import Array
from sagax._src.primitives.random_bits import PRNGImpl
from sagax._src.primitives.random_implementations import (
    rbg_prng_impl,
    threefry_prng_impl,
    unsafe_rbg_prng_impl,
)
from sagax.lax import threefry2x32_p
from sagax.random import key

__all__ = [
    "define_prng_impl",
    "random_seed",
    "rbg_prng_impl",
    "seed_with_impl",
    "threefry2x32_p",
    "threefry_2x32",
    "threefry_prng_impl",
    "unsafe_rbg_prng_impl",
]


def define_prng_impl(
    *,
    key_shape: tuple[int, ...],
    seed: Callable[[Any], Any],
    split: Callable[[Any, tuple[int, ...]], Any],
    random_bits: Callable[[Any, int, tuple[int, ...]], Any],
    fold_in: Callable[[Any, Any], Any],
    name: str = "<unnamed>",
    tag: str = "?",
) -> PRNGImpl:
    """Define a key implementation, for `sagax.random.key(seed, impl=...)`.

    Args:
      key_shape: the shape of the data of one key.
      seed: a function from an integer to the data of a key, uint32.
      split: a function from key data and a shape to the data of an array of keys.
      random_bits: a function from key data, a width in bits and a shape to unsigned integers.
      fold_in: a function from key data and an integer to the data of another key.
      name, tag: its name, and its name in the dtypes of keys.

    >>> plain = random.define_prng_impl(
    ...     key_shape=(1,), name="plain", tag="pl",
    ...     seed=lambda seed: snp.asarray([seed]).astype("uint32"),
    ...     split=lambda k, shape: snp.broadcast_to(k, (*shape, 1)),
    ...     random_bits=lambda k, width, shape: snp.broadcast_to(k[0], shape),
    ...     fold_in=lambda k, n: k + snp.asarray(n, "uint32"),
    ... )
    >>> sagax.random.bits(sagax.random.key(7, impl=plain), (2,))
    Array([7, 7], dtype=uint32)
    """
    rank = len(key_shape)

    def each(one: Callable[..., Any], data: Any, *more: Any) -> Any:
        """Apply `one` to each key; `more` are arrays with a value for each."""
        for _ in range(np.ndim(data) - rank):
            one = vmap(one)
        return one(data, *more)

    def seeds(numbers: Any) -> Any:
        one: Callable[..., Any] = seed
        for _ in range(np.ndim(numbers)):
            one = vmap(one)
        return one(numbers)

    def folded(data: Any, numbers: Any) -> Any:
        keys = data.shape[: data.ndim - rank]
        shape = snp.broadcast_shapes(keys, np.shape(numbers))
        data = snp.broadcast_to(data, (*shape, *key_shape))
        return each(fold_in, data, snp.broadcast_to(snp.asarray(numbers), shape))

    return PRNGImpl(
        name,
        tag,
        tuple(key_shape),
        seeds,
        lambda data, shape: each(lambda k: split(k, shape), data),
        lambda data, width, shape: each(lambda k: random_bits(k, width, shape), data),
        folded,
    )


def seed_with_impl(impl: PRNGImpl, seed: Any) -> Array:
    """Create a key of the implementation `impl`.

    >>> bool((random.seed_with_impl(random.threefry_prng_impl, 3) == sagax.random.key(3)).all())
    True
    """
    return key(seed, impl=impl)


def random_seed(seeds: Any, impl: PRNGImpl) -> Array:
    """Create a key of the implementation `impl`.

    >>> random.random_seed(3, random.threefry_prng_impl).shape
    ()
    """
    return key(seeds, impl=impl)


def threefry_2x32(keypair: Any, count: Any) -> Array:
    """Encrypt the uint32 numbers `count` with the two numbers `keypair`.

    >>> random.threefry_2x32(np.zeros(2, np.uint32), np.zeros(2, np.uint32))
    Array([1797259609, 2579123966], dtype=uint32)
    """
    first, second = snp.asarray(keypair)
    count = snp.asarray(count)
    numbers = count.ravel()
    if numbers.shape[0] % 2:
        numbers = snp.concatenate([numbers, snp.zeros(1, numbers.dtype)])
    out = snp.concatenate(threefry2x32_p.bind(first, second, *snp.split(numbers, 2)))
    return out[: count.size].reshape(count.shape)
