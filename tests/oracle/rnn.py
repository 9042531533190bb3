"""Record what jax gives for LSTM networks: tests/data/rnn.json.

Run it with a Python that has jax: `python tests/oracle/rnn.py`.
"""

from __future__ import annotations

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import rnn

HERE = pathlib.Path(__file__).parent
SIZES = [(3, 4, 1, False), (3, 2, 2, True), (2, 3, 2, False)]


def main():
    found = []
    for input_size, hidden_size, layers, both in SIZES:
        generator = np.random.default_rng(0)
        count = rnn.get_num_params_in_lstm(input_size, hidden_size, layers, both)
        weights = generator.normal(size=count).astype(np.float32)
        x = generator.normal(size=(2, 5, input_size)).astype(np.float32)
        states = layers * (2 if both else 1), 2, hidden_size
        h, c = (generator.normal(size=states).astype(np.float32) for _ in range(2))
        lengths = np.array([5, 3], np.int32)
        parts = rnn.unpack_lstm_weights(jnp.asarray(weights), input_size, hidden_size, layers, both)
        size = input_size, hidden_size, layers, 0.0, both
        outs = rnn.lstm_ref(x, h, c, *parts, jnp.asarray(lengths), *size)
        found.append(
            {
                "sizes": [input_size, hidden_size, layers, both],
                "count": count,
                "parts": [[list(p[k].shape) for k in sorted(p)] for p in parts],
                "outs": [np.asarray(o).ravel().tolist() for o in outs],
            }
        )
    path = HERE.parent / "data" / "rnn.json"
    path.write_text(json.dumps({"jax": jax.__version__, "cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
