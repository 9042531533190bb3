"""LSTM networks, against jax (tests/oracle/rnn.py records what it gives)."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.experimental import rnn

DATA = json.loads((pathlib.Path(__file__).parents[1] / "data" / "rnn.json").read_text())


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: str(case["sizes"]))
def test_as_jax(case):
    input_size, hidden_size, layers, both = case["sizes"]
    generator = np.random.default_rng(0)
    count = rnn.get_num_params_in_lstm(input_size, hidden_size, layers, both)
    assert count == case["count"]
    weights = generator.normal(size=count).astype(np.float32)
    x = generator.normal(size=(2, 5, input_size)).astype(np.float32)
    states = layers * (2 if both else 1), 2, hidden_size
    h, c = (generator.normal(size=states).astype(np.float32) for _ in range(2))
    lengths = np.array([5, 3], np.int32)
    size = input_size, hidden_size, layers, 0.0, both
    parts = rnn.unpack_lstm_weights(weights, input_size, hidden_size, layers, both)
    assert [[list(p[k].shape) for k in sorted(p)] for p in parts] == case["parts"]
    for found, expected in zip(rnn.lstm(x, h, c, weights, lengths, *size), case["outs"]):
        np.testing.assert_allclose(np.ravel(found), expected, rtol=2e-5, atol=1e-6)


def test_derivatives_and_mistakes():
    weights = rnn.init_lstm_weight(sagax.random.key(0), 3, 2, 1, False)
    assert float(snp.abs(weights).max()) <= np.sqrt(0.5)
    x, start = snp.ones((1, 4, 3)), snp.zeros((1, 1, 2))
    lengths = snp.array([3])

    def last(w):
        return rnn.lstm(x, start, start, w, lengths, 3, 2, 1, 0.0, False)[1].sum()

    gradient = sagax.jit(sagax.grad(last))(weights)
    step = 1e-2 * gradient
    slope = (last(weights + step) - last(weights - step)) / 2
    np.testing.assert_allclose(slope, (gradient * step).sum(), rtol=1e-3)
    with pytest.raises(ValueError, match="56 numbers"):
        last(weights[1:])
    with pytest.raises(NotImplementedError, match="dropout"):
        rnn.lstm(x, start, start, weights, lengths, 3, 2, 1, 0.5, False)
    with pytest.raises(TypeError, match="seq_lengths"):
        rnn.lstm(x, start, start, weights, snp.array([3.0]), 3, 2, 1, 0.0, False)
