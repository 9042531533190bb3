# error: ConcretizationTypeError
# line: 13
# depends: draws
# fix: size_arg
# result: [3 1 2]

import jax
import jax.numpy as jnp


class Census:
    def kinds(self, draws):
        _, counts = jnp.unique(draws, return_counts=True)
        return (counts > 0).sum()

    def each(self, rows):
        return jax.vmap(self.kinds)(rows)


rows = jnp.array([[4, 2, 4, 7], [1, 1, 1, 1], [3, 5, 5, 3]])
print(jax.jit(Census().each)(rows))
