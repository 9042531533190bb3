import sagax
import sagax.numpy as jnp


def errors(threshold, x):
    return jnp.mean((x > threshold).astype(jnp.float32))  #~ SX0415 the gradient of `threshold` is 0


@sagax.jit
def tuned(threshold, x):
    return threshold - sagax.grad(errors)(threshold, x)


print(tuned(0.5, jnp.linspace(0.0, 1.0, 5)))
