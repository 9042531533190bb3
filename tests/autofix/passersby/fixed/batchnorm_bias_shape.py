# One correct fixed version of batchnorm_bias_shape.py
import jax
import jax.numpy as jnp


def moments(x):
    axes = (0, 2, 3)
    mean = x.mean(axis=axes, keepdims=True)
    return mean, ((x - mean) ** 2).mean(axis=axes, keepdims=True)


def conv(x, kernel):
    return jax.lax.conv_general_dilated(
        x, kernel, window_strides=(1, 1), padding="SAME",
        dimension_numbers=("NCHW", "OIHW", "NCHW"))


@jax.jit
def block(x, kernel, gamma, beta):
    y = conv(x, kernel)

    def normalise(gamma, beta, x):
        mean, var = moments(x)
        g, b = gamma[:, None, None], beta[:, None, None]
        return g * (x - mean) / jnp.sqrt(var + 1e-5) + b

    return jax.nn.relu(normalise(gamma, beta, y))


x = jnp.cos(jnp.arange(2 * 3 * 8 * 8, dtype=jnp.float32)).reshape(2, 3, 8, 8)
kernel = jnp.sin(jnp.arange(5 * 3 * 3 * 3, dtype=jnp.float32)).reshape(5, 3, 3, 3)
gamma = jnp.linspace(0.5, 1.5, 5)
beta = jnp.zeros(5)
out = block(x, kernel, gamma, beta)
print(out.shape, round(float(out.mean()), 4))
