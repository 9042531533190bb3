import jax
import jax.numpy as jnp

weights = [jnp.full((3, 4), 0.2), jnp.full((4, 4), -0.1), jnp.full((4, 2), 0.5)]


@jax.jit
def forward(x):
    activations = []
    for w in weights:
        x = jnp.tanh(x @ w)
        activations.append(x)
    return x, activations


x = jnp.array([[1.0, 2.0, 3.0], [0.5, -0.5, 1.0]])
y, activations = forward(x)
print(y.round(3).tolist())
for h in activations:
    print(round(float(jnp.mean(jnp.abs(h))), 4))
