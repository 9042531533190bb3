import jax
import jax.numpy as jnp

x_train = jnp.array([-2.0, -1.2, -0.3, 0.4, 1.1, 1.9])
y_train = jnp.sin(x_train)
x_test = jnp.array([-1.5, 0.0, 0.8, 1.5])


def rbf(a, b, lengthscale):
    return jnp.exp(-0.5 * ((a - b) / lengthscale) ** 2)


def gram(xs, ys, lengthscale):
    return jax.vmap(jax.vmap(rbf, (None, 0, None)), (0, None, None))(xs, ys, lengthscale)


@jax.jit
def posterior(x_train, y_train, x_test, lengthscale):
    cross = gram(x_test, x_train, lengthscale)
    k_train = gram(x_train, x_train, lengthscale) + 0.01 * jnp.eye(x_train.shape[0])
    chol = jax.scipy.linalg.cho_factor(k_train, lower=True)
    mean = cross @ jax.scipy.linalg.cho_solve(chol, y_train)
    reduction = jnp.sum(cross * jax.scipy.linalg.cho_solve(chol, cross.T).T, axis=1)
    return mean, 1.0 - reduction


mean, variance = posterior(x_train, y_train, x_test, 0.9)
print([round(float(m), 3) for m in mean])
print([round(float(v), 3) for v in variance])
