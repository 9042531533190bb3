from functools import partial

import jax
import jax.numpy as jnp


class Chebyshev:
    """Immutable after construction, so that it can be a static argument."""

    def __init__(self, degree):
        self.degree = degree

    def __hash__(self):
        return hash(self.degree)

    def __eq__(self, other):
        return isinstance(other, Chebyshev) and self.degree == other.degree

    @partial(jax.jit, static_argnums=0)
    def basis(self, x):
        terms = [jnp.ones_like(x), x]
        for _ in range(self.degree - 1):
            terms.append(2.0 * x * terms[-1] - terms[-2])
        return jnp.stack(terms[: self.degree + 1])


x = jnp.linspace(-1.0, 1.0, 5)
print(Chebyshev(3).basis(x).shape, Chebyshev(2).basis(x)[2].tolist())
