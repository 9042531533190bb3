import jax
import jax.numpy as jnp


def model(w, x):
    return jnp.tanh(x @ w)


@jax.jit
def forward(w, x):
    """Gives the output, and the function that pulls back, which is a pytree."""
    return jax.vjp(model, w, x)


@jax.jit
def backward(pull, g):
    return pull(g)


w = jnp.array([[0.5, -1.0], [0.25, 2.0]])
x = jnp.array([[1.0, 0.0], [0.5, -0.5], [2.0, 1.0]])
out, pull = forward(w, x)
dw, dx = backward(pull, jnp.ones_like(out))
direct = jax.grad(lambda w: model(w, x).sum())(w)
print(dx.shape, bool(jnp.allclose(dw, direct, atol=1e-5)))
