"""Run LSTM networks on batches of sequences, with weights in the order of cuDNN.

The gates are those of `torch.nn.LSTM`. The weights are one vector: for each layer, and each direction in it, the
matrices of the input and of the state; then, in the same order, their biases.

>>> from sagax.experimental import rnn
>>> weights = rnn.init_lstm_weight(random.key(0), 3, 4, num_layers=1, bidirectional=False)
>>> x, start = snp.ones((2, 5, 3)), snp.zeros((1, 2, 4))
>>> y, h, c = rnn.lstm(x, start, start, weights, snp.full(2, 5), 3, 4, 1, 0.0, False)
>>> y.shape, h.shape
((2, 5, 4), (1, 2, 4))
"""

from __future__ import annotations

import math
from typing import Any

import sagax.lax as lax
import sagax.nn as nn
import sagax.numpy as snp
import sagax.random as random
from sagax._src.config import default_matmul_precision
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.unsupported import UnsupportedError
from sagax.numpy._base import promotes_freely

__all__ = [
    "get_num_params_in_lstm",
    "init_lstm_weight",
    "lstm",
    "lstm_ref",
    "swap_lstm_gates",
    "unpack_lstm_weights",
]


def _shapes(
    input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> list[tuple[int, ...]]:
    """Return the shapes of all parts of the weights, in their order."""
    directions = 2 if bidirectional else 1
    gates = 4 * hidden_size
    matrices: list[tuple[int, ...]] = []
    for layer in range(num_layers):
        width = input_size if layer == 0 else directions * hidden_size
        matrices += [(gates, width), (gates, hidden_size)] * directions
    return matrices + [(gates,)] * len(matrices)


def get_num_params_in_lstm(
    input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> int:
    """Count the weights.

    >>> rnn.get_num_params_in_lstm(3, 4, num_layers=1, bidirectional=False)
    144
    """
    return sum(map(math.prod, _shapes(input_size, hidden_size, num_layers, bidirectional)))


def init_lstm_weight(
    rng: Any, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Array:
    """Draw weights uniformly from (-k, k), where k is the square root of 1 / hidden_size.

    >>> rnn.init_lstm_weight(random.key(0), 3, 4, 1, False).shape
    (144,)
    """
    count = get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional)
    bound = math.sqrt(1 / hidden_size)
    return random.uniform(rng, (count,), snp.float32, minval=-bound, maxval=bound)


def _parts(weights: Any, shapes: list[tuple[int, ...]]) -> list[Array]:
    """Split a vector into arrays of these shapes."""
    weights = snp.asarray(weights)
    count = sum(map(math.prod, shapes))
    if weights.shape != (count,):
        raise ArgumentValueError.about("lstm", "weights", weights, f"a vector of {count} numbers")
    found, start = [], 0
    for shape in shapes:
        end = start + math.prod(shape)
        found.append(weights[start:end].reshape(shape))
        start = end
    return found


def unpack_lstm_weights(
    weights: Any, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> tuple[dict[int, Array], dict[int, Array], dict[int, Array], dict[int, Array]]:
    """Split weights into matrices and biases of inputs and states: W_ih, W_hh, b_ih, b_hh.

    Each is a dict by layer; the directions of a bidirectional network count as layers.

    >>> weights = rnn.init_lstm_weight(random.key(0), 3, 4, 1, False)
    >>> [part[0].shape for part in rnn.unpack_lstm_weights(weights, 3, 4, 1, False)]
    [(16, 3), (16, 4), (16,), (16,)]
    """
    shapes = _shapes(input_size, hidden_size, num_layers, bidirectional)
    found = _parts(weights, shapes)
    half = len(found) // 2
    groups = found[:half:2], found[1:half:2], found[half::2], found[half + 1 :: 2]
    w_ih, w_hh, b_ih, b_hh = (dict(enumerate(group)) for group in groups)
    return w_ih, w_hh, b_ih, b_hh


def swap_lstm_gates(
    weights: Any, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
) -> Array:
    """Exchange the third and fourth gates, which some libraries store in the other order.

    >>> weights = rnn.init_lstm_weight(random.key(0), 3, 4, 1, False)
    >>> twice = rnn.swap_lstm_gates(rnn.swap_lstm_gates(weights, 3, 4, 1, False), 3, 4, 1, False)
    >>> bool((twice == weights).all())
    True
    """
    shapes = _shapes(input_size, hidden_size, num_layers, bidirectional)
    order = snp.array([0, 1, 3, 2])
    swapped = [
        part.reshape(4, hidden_size, *part.shape[1:])[order].ravel()
        for part in _parts(weights, shapes)
    ]
    return snp.concatenate(swapped)


@promotes_freely
def _layer(
    x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, lengths: Any, reverse: bool
) -> tuple[Array, Array, Array]:
    """Run one direction of a layer on (time, batch, width); beyond a sequence's end, the state stays."""
    inputs = x @ w_ih.T + (b_ih + b_hh)
    valid = snp.arange(x.shape[0])[:, None] < lengths

    def step(state: tuple, given: tuple) -> tuple:
        h, c = state
        projected, here = given
        i, f, g, o = snp.split(projected + h @ w_hh.T, 4, axis=-1)
        new_c = nn.sigmoid(f) * c + nn.sigmoid(i) * snp.tanh(g)
        new_h = nn.sigmoid(o) * snp.tanh(new_c)
        here = here[:, None]
        state = snp.where(here, new_h, h), snp.where(here, new_c, c)
        return state, snp.where(here, new_h, 0)

    # padding is at the end: in reverse, the state waits there at its start
    (h, c), y = lax.scan(step, (h, c), (inputs, valid), reverse=reverse)
    return y, h, c


def lstm_ref(
    x: Any,
    h_0: Any,
    c_0: Any,
    W_ih: dict[int, Any],
    W_hh: dict[int, Any],
    b_ih: dict[int, Any],
    b_hh: dict[int, Any],
    seq_lengths: Any,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
) -> tuple[Array, Array, Array]:
    """Run an LSTM network with weights as from `unpack_lstm_weights`; otherwise as `lstm`.

    >>> weights = rnn.init_lstm_weight(random.key(0), 3, 4, 1, False)
    >>> parts = rnn.unpack_lstm_weights(weights, 3, 4, 1, False)
    >>> x, start = snp.ones((2, 5, 3)), snp.zeros((1, 2, 4))
    >>> rnn.lstm_ref(x, start, start, *parts, snp.full(2, 5), 3, 4, 1, 0.0, False)[0].shape
    (2, 5, 4)
    """
    if dropout != 0:
        raise UnsupportedError(
            "dropout between layers", function="lstm", argument="dropout", fix="pass 0.0"
        )
    lengths = snp.asarray(seq_lengths)
    if lengths.dtype != snp.dtype("int32"):
        raise ArgumentError.about("lstm", "seq_lengths", lengths, "an array of int32")
    directions = 2 if bidirectional else 1
    y = snp.swapaxes(snp.asarray(x), 0, 1)
    last_h, last_c = [], []
    for layer in range(num_layers):
        outs = []
        for direction in range(directions):
            k = layer * directions + direction
            out, h, c = _layer(
                y, h_0[k], c_0[k], W_ih[k], W_hh[k], b_ih[k], b_hh[k], lengths, direction == 1
            )
            outs.append(out)
            last_h.append(h)
            last_c.append(c)
        y = snp.concatenate(outs, axis=-1)
    return snp.swapaxes(y, 0, 1), snp.stack(last_h), snp.stack(last_c)


def lstm(
    x: Any,
    h_0: Any,
    c_0: Any,
    weights: Any,
    seq_lengths: Any,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
    precision: Any = None,
) -> tuple[Array, Array, Array]:
    """Run an LSTM network on a batch of sequences.

    Args:
      x: the sequences, (batch, length, input_size).
      h_0, c_0: the states at the start, (layers * directions, batch, hidden_size).
      weights: a vector of `get_num_params_in_lstm(...)` numbers.
      seq_lengths: the length of each sequence, int32; what follows is padding.
      dropout: 0.0.
      precision: that of the matrix products.

    Returns the outputs, (batch, length, directions * hidden_size) and 0 in the padding; and the last states h and c.

    >>> weights = rnn.init_lstm_weight(random.key(0), 3, 4, 2, True)
    >>> x, start = snp.ones((2, 5, 3)), snp.zeros((4, 2, 4))
    >>> rnn.lstm(x, start, start, weights, snp.array([5, 3]), 3, 4, 2, 0.0, True)[0].shape
    (2, 5, 8)
    """
    parts = unpack_lstm_weights(weights, input_size, hidden_size, num_layers, bidirectional)
    sizes = input_size, hidden_size, num_layers, dropout, bidirectional
    if precision is None:
        return lstm_ref(x, h_0, c_0, *parts, seq_lengths, *sizes)
    with default_matmul_precision(precision):
        return lstm_ref(x, h_0, c_0, *parts, seq_lengths, *sizes)
