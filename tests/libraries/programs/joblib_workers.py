"""Workers of joblib: jitted and differentiated functions, arrays and keys travel to processes and back."""

import json

import jax
import jax.numpy as jnp
import joblib


@jax.jit
def norm(x):
    return jnp.sqrt(jnp.sum(x * x))


def loss(weights, x):
    import jax as inner  # as modules of workers do

    return inner.nn.softplus(x @ weights).sum()


if __name__ == "__main__":
    arrays = [jnp.arange(1.0, 4.0) * i for i in range(3)]
    keys = jax.random.split(jax.random.key(0), 3)
    weights = jnp.array([0.1, -0.2, 0.3])
    with joblib.Parallel(n_jobs=2) as parallel:
        norms = parallel(joblib.delayed(norm)(x) for x in arrays)
        slopes = parallel(joblib.delayed(jax.grad(loss))(weights, x) for x in arrays)
        draws = parallel(joblib.delayed(lambda k: jax.random.normal(k, (2,)))(k) for k in keys)
    found = {
        "norms": [float(x) for x in norms],
        "slopes": [float(x) for slope in slopes for x in slope],
        "draws": [float(x) for draw in draws for x in draw],
        "equal hashes": [float(joblib.hash(arrays[1]) == joblib.hash(jnp.arange(1.0, 4.0)))],
    }
    print(json.dumps(found))
