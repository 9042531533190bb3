import jax
import jax.numpy as jnp
import numpy as np

# numpy's default is float64, jax makes it float32 as it comes in
samples = np.linspace(0.0, 1.0, 11)
labels = np.arange(11)


@jax.jit
def mean_label(samples, labels, center):
    weights = jax.nn.softmax(-((samples - center) ** 2) / 0.01)
    return jnp.sum(weights * labels)


print(samples.dtype.name, labels.dtype.name)
print(round(float(mean_label(samples, labels, 0.5)), 3), jnp.asarray(samples).dtype.name)
print(round(float(mean_label(np.sqrt(samples), labels, np.float64(0.3))), 3))
