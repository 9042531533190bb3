# error: FutureWarning
# expect: FutureWarning | DtypeTruncationWarning | UserWarning
# line: 20
# depends: values
# fix: match_dtype
# fixed-file: fixed/count_sketch_at_add.py
# result: [(0, 24.24), (2, 21.54), (1, 14.24)] ; total 66.72

"""Spend per customer from a transaction log."""
import jax
import jax.numpy as jnp


def empty_ledger(n):
    return jnp.zeros(n, dtype=jnp.int32)


@jax.jit
def post(ledger, ids, values):
    return ledger.at[ids].add(values)


def top(ledger, k):
    values, ids = jax.lax.top_k(ledger, k)
    return [(int(i), round(float(v), 2)) for i, v in zip(ids, values)]


days = [
    (jnp.array([0, 2, 2, 1]), jnp.array([19.99, 5.49, 7.25, 0.99])),
    (jnp.array([1, 1, 3, 0]), jnp.array([12.5, 0.75, 3.0, 4.25])),
    (jnp.array([2, 3, 3, 3]), jnp.array([8.8, 1.1, 2.2, 0.4])),
]
ledger = empty_ledger(4)
for ids, values in days:
    ledger = post(ledger, ids, values)
print(top(ledger, 3))
print("total", round(float(ledger.sum()), 2))
