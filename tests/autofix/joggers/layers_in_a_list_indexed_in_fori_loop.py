# error: TracerIntegerConversionError
# line: 19
# depends: -
# fix: any
# result: [0.7430000305175781, -1.6430001258850098] ; [[3.265000104904175, 0.39400002360343933], [0.09200000762939453, 1.5980000495910645]]

import jax
import jax.numpy as jnp

layers = [
    jnp.array([[0.5, -0.2], [0.1, 0.9]]),
    jnp.array([[1.0, 0.3], [-0.4, 0.7]]),
    jnp.array([[0.2, 0.2], [0.6, -0.5]]),
]


def network(x):
    def layer(i, h):
        return jnp.tanh(layers[i] @ h) + h

    return jax.lax.fori_loop(0, len(layers), layer, x)


x = jnp.array([0.4, -1.0])
print(network(x).round(3).tolist())
print(jax.jacobian(network)(x).round(3).tolist())
