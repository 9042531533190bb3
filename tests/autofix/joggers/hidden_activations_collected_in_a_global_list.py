# error: UnexpectedTracerError
# line: 27
# also-line: 19
# depends: -
# fix: any
# result: [[-0.5670000314712524, -0.5670000314712524], [-0.15600000321865082, -0.15600000321865082]] ; 0.5155 ; 0.2002 ; 0.3617

import jax
import jax.numpy as jnp

weights = [jnp.full((3, 4), 0.2), jnp.full((4, 4), -0.1), jnp.full((4, 2), 0.5)]
activations = []


@jax.jit
def forward(x):
    for w in weights:
        x = jnp.tanh(x @ w)
        activations.append(x)
    return x


x = jnp.array([[1.0, 2.0, 3.0], [0.5, -0.5, 1.0]])
y = forward(x)
print(y.round(3).tolist())
for h in activations:
    print(round(float(jnp.mean(jnp.abs(h))), 4))
