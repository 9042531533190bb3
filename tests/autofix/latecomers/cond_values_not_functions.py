# error: TypeError
# line: 22
# depends: -
# fix: where
# fixed-file: fixed/cond_values_not_functions.py
# result: -0.5 -0.97

"""Simulated annealing on a one-dimensional energy landscape."""
import jax
import jax.numpy as jnp


def energy(x):
    return 0.1 * x ** 2 + jnp.sin(3.0 * x)


def metropolis(key, x, temperature):
    prop_key, acc_key = jax.random.split(key)
    proposal = x + 0.8 * jax.random.normal(prop_key)
    delta = energy(proposal) - energy(x)
    accept = jnp.log(jax.random.uniform(acc_key)) < -delta / temperature
    return jax.lax.cond(accept, proposal, x)


@jax.jit
def anneal(key, x0, temperatures):
    def body(carry, temperature):
        key, x, best = carry
        key, sub = jax.random.split(key)
        x = metropolis(sub, x, temperature)
        best = jnp.where(energy(x) < energy(best), x, best)
        return (key, x, best), energy(x)

    carry, trace = jax.lax.scan(body, (key, x0, x0), temperatures)
    return carry[2], trace


temperatures = jnp.geomspace(5.0, 0.01, 400)
best, trace = anneal(jax.random.key(7), jnp.float32(6.0), temperatures)
print(round(float(best), 1), round(float(energy(best)), 2))
