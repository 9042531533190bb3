# error: ValueError
# expect: ValueError | TypeError
# line: 17
# also-line: 15
# depends: features
# fix: axis
# result: [[-1.069000005722046, -0.2670000195503235, 1.3360000848770142], [-0.9810000658035278, -0.3920000195503235, 1.3730000257492065], [-0.8890000581741333, 1.3970000743865967, -0.5080000162124634], [-0.7070000171661377, -0.7070000171661377, 1.4140000343322754]]

import jax
import jax.numpy as jnp


@jax.jit
def standardize(features):
    center = features.mean(axis=1)
    spread = features.std(axis=1)
    return (features - center) / (spread + 1e-6)


rows = jnp.array([[1.0, 2.0, 4.0], [3.0, 3.5, 5.0], [0.0, 6.0, 1.0], [2.0, 2.0, 8.0]])
print(standardize(rows).round(3).tolist())
