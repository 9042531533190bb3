# error: ConcretizationTypeError
# line: 17
# depends: -
# fix: any
# result: 1 4.0 ; 3 10.0 ; 7 9.0 ; 9 10.0 ; 12 9.0 ; best: 3

import jax
import jax.numpy as jnp
import numpy as np

customer = np.array([7, 3, 3, 9, 7, 1, 3, 9, 12, 1])
amount = np.array([5.0, 1.5, 2.5, 8.0, 4.0, 3.0, 6.0, 2.0, 9.0, 1.0], dtype=np.float32)


@jax.jit
def spend_per_customer(customer, amount):
    ids, inverse = jnp.unique(customer, return_inverse=True)
    totals = jnp.zeros(ids.shape[0]).at[inverse].add(amount)
    best = jnp.argmax(totals)
    return ids, totals, ids[best]


ids, totals, best = spend_per_customer(customer, amount)
for i, total in zip(ids.tolist(), totals.tolist()):
    if total > 0:
        print(i, total)
print("best:", int(best))
