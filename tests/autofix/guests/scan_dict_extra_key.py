# error: TypeError
# line: 17
# also-line: 22, 23
# depends: -
# fix: match_structure
# fixed-file: fixed/scan_dict_extra_key.py
# result: (3, 2) [0.0785, 0.0077]

import jax
import jax.numpy as jnp


def lstm_like(carry, x):
    h = jnp.tanh(0.5 * carry["h"] + x)
    c = 0.9 * carry["c"] + 0.1 * h
    gate = jax.nn.sigmoid(c)
    return {"h": h * gate, "c": c, "gate": gate}, h


def encode(sequence):
    size = sequence.shape[1]
    start = {"h": jnp.zeros(size), "c": jnp.zeros(size)}
    final, outputs = jax.lax.scan(lstm_like, start, sequence)
    return final["c"], outputs


c, outputs = encode(jnp.array([[0.1, 0.4], [0.2, -0.3], [0.5, 0.0]]))
print(outputs.shape, [round(float(v), 4) for v in c])
