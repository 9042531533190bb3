"""Generators of random numbers of one's own, and those that sagax has.

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
    """A kind of keys, for `sagax.random.key(seed, impl=...)`.

    Args:
      key_shape: the shape of the numbers of one key.
      seed: from an integer to the numbers of a key, uint32.
      split: from a key's numbers and a shape to the numbers of that many keys.
      random_bits: from a key's numbers, a width in bits and a shape to unsigned integers.
      fold_in: from a key's numbers and an integer to the numbers of another key.
      name, tag: how it is called, and how dtypes show it.

    >>> import sagax, sagax.numpy as snp
    >>> from sagax.extend import random
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
        """`one` of each key; `more` are arrays with a value for each."""
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
    """A key of the kind `impl`.

    >>> import sagax
    >>> from sagax.extend import random
    >>> bool((random.seed_with_impl(random.threefry_prng_impl, 3) == sagax.random.key(3)).all())
    True
    """
    return key(seed, impl=impl)


def random_seed(seeds: Any, impl: PRNGImpl) -> Array:
    """A key of the kind `impl`.

    >>> from sagax.extend import random
    >>> random.random_seed(3, random.threefry_prng_impl).shape
    ()
    """
    return key(seeds, impl=impl)


def threefry_2x32(keypair: Any, count: Any) -> Array:
    """The uint32 numbers `count`, enciphered by the two numbers `keypair`.

    >>> import numpy as np
    >>> from sagax.extend import random
    >>> random.threefry_2x32(np.zeros(2, np.uint32), np.zeros(2, np.uint32))
    Array([1797259609, 2579123966], dtype=uint32)
    """
    first, second = snp.asarray(keypair)
    count = snp.asarray(count)
    words = count.ravel()
    if words.shape[0] % 2:
        words = snp.concatenate([words, snp.zeros(1, words.dtype)])
    out = snp.concatenate(threefry2x32_p.bind(first, second, *snp.split(words, 2)))
    return out[: count.size].reshape(count.shape)
