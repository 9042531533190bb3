"""The generator with state draws what jax's does, under jit and vmap too."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
from sagax.errors import SagaxError
from sagax.experimental import random


def test_draws_are_those_of_jax():
    # jax 0.12: rng = stateful_rng(42), in this order
    rng = random.stateful_rng(42)
    assert sagax.random.key_data(rng.key()).tolist() == [1832780943, 270669613]
    assert float(rng.uniform()) == pytest.approx(0.72766423, rel=1e-7)
    np.testing.assert_allclose(rng.random(size=3), [0.6672406, 0.7214867, 0.1267947], rtol=1e-6)
    assert rng.integers(0, 5, size=3).tolist() == [1, 4, 0]
    np.testing.assert_allclose(rng.normal(size=(2,)), [0.6549178, 0.17345214], rtol=1e-6)


def test_state_goes_through_jit_and_vmap():
    eager, jitted = random.stateful_rng(1), random.stateful_rng(1)
    draw = sagax.jit(lambda rng, low: rng.uniform(low, 3.0))
    for _ in range(3):
        assert float(eager.uniform(1.0, 3.0)) == float(draw(jitted, 1.0))
    several = eager.split(4)
    first = sagax.vmap(lambda rng: rng.normal())(several)
    second = sagax.vmap(lambda rng: rng.normal())(several)
    assert len({*map(float, first), *map(float, second)}) == 8
    children = eager.spawn(2)
    assert float(children[0].random()) != float(children[1].random())
    with pytest.raises(SagaxError, match="split"):
        several.key()
    with pytest.raises(SagaxError, match="needs a seed"):
        sagax.jit(lambda: random.stateful_rng().uniform())()
    assert "Ref(" in repr(random.stateful_rng())
