# error: TypeError
# line: 24
# also-line: 23
# depends: -
# fix: any
# result: [[0.7210000157356262, 1.683000087738037], [0.940000057220459, 1.7370001077651978], [0.8600000143051147, 1.8900001049041748], [0.9250000715255737, 1.9200000762939453], [0.9550000429153442, 1.915000081062317]] ; 0.0593

import jax
import jax.numpy as jnp

Q, R = 0.01, 0.25


def update(carry, z):
    mean, var = carry
    var = var + Q
    gain = var / (var + R)
    mean = mean + gain * (z - mean)
    return (mean, (1.0 - gain) * var), mean


readings = jnp.array([[0.9, 2.1], [1.2, 1.8], [0.7, 2.2], [1.1, 2.0], [1.05, 1.9]])
start = (jnp.array([0, 0]), 1.0)
(mean, var), track = jax.lax.scan(update, start, readings)
print(track.round(3).tolist())
print(round(float(var), 4))
