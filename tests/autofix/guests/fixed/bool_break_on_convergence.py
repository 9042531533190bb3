# One correct fixed version of bool_break_on_convergence.py
import jax
import jax.numpy as jnp


@jax.jit
def stationary(transition):
    pi = jnp.full(transition.shape[0], 1.0 / transition.shape[0])
    def moving(state):
        k, old, pi = state
        return (k < 60) & ~jnp.allclose(pi, old, atol=1e-7)

    def step(state):
        k, _, pi = state
        return k + 1, pi, pi @ transition

    return jax.lax.while_loop(moving, step, (1, pi, pi @ transition))[2]


weather = jnp.array([
    [0.8, 0.15, 0.05],
    [0.3, 0.4, 0.3],
    [0.2, 0.4, 0.4],
])
print([round(float(p), 4) for p in stationary(weather)])
