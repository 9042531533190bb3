# error: TypeError
# line: 24
# also-line: 20, 30
# depends: -
# fix: return_value
# fixed-file: fixed/jit_returns_label.py
# result: setosa 0.949 ; versicolor 0.715 ; virginica 0.782

import jax
import jax.numpy as jnp

SPECIES = ("setosa", "versicolor", "virginica")
CENTRES = jnp.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])


def distances(x):
    return jnp.sqrt(jnp.sum((CENTRES - x) ** 2, axis=1))


@jax.jit
def describe(x):
    d = distances(x)
    conf = jax.nn.softmax(-d)
    return {"unit": "cm", "nearest": jnp.argmin(d), "confidence": conf.max()}


def classify(rows):
    out = []
    for row in rows:
        info = describe(jnp.asarray(row))
        out.append((SPECIES[int(info["nearest"])], round(float(info["confidence"]), 3)))
    return out


rows = [[5.1, 3.5, 1.4, 0.2], [6.0, 2.9, 4.5, 1.5], [6.9, 3.1, 5.4, 2.1]]
for name, conf in classify(rows):
    print(name, conf)
