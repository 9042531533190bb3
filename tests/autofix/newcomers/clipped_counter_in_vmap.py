# error: none
# expect: SideEffectWarning
# jax-differs: jax silently counts each table once
# line: 17
# also-line: 30
# depends: -
# fix: move_out_of_jit
# result: (60, 5) columns: 15

import jax
import jax.numpy as jnp

stats = {"seen": 0}


def winsorize(column, limit=2.0):
    stats["seen"] += 1
    z = (column - column.mean()) / column.std()
    return jnp.clip(z, -limit, limit)


def pipeline(tables):
    cleaned = [jax.vmap(winsorize, in_axes=1, out_axes=1)(t) for t in tables]
    return jnp.concatenate(cleaned)


key = jax.random.key(9)
tables = [jax.random.normal(k, (20, 5)) for k in jax.random.split(key, 3)]
cleaned = pipeline(tables)
print(cleaned.shape, "columns:", stats["seen"])
