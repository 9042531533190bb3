import jax
import jax.numpy as jnp


def make_network(sizes):
    """Slices one flat vector; the offset is a Python number that starts anew in each call."""

    def forward(theta, x):
        offset = 0

        def take(shape):
            nonlocal offset
            size = shape[0] * (shape[1] if len(shape) > 1 else 1)
            part = theta[offset : offset + size].reshape(shape)
            offset += size
            return part

        for m, n in zip(sizes[:-1], sizes[1:], strict=True):
            x = jnp.tanh(x @ take((m, n)) + take((n,)))
        assert offset == theta.shape[0]
        return x

    return forward


forward = jax.jit(make_network((2, 3, 1)))
theta = jnp.linspace(-1.0, 1.0, 13)
print(round(float(forward(theta, jnp.array([0.5, -0.5]))[0]), 4))
print(jax.grad(lambda t: forward(t, jnp.ones(2))[0])(theta).shape)
