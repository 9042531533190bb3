# error: none
# expect: none
# result: ordered True (3, 16) ; all finite True small errors True

"""Stochastic SEIR model: compare interventions, independent replicates per scenario."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Rates:
    contact: jax.Array
    onset: jax.Array
    recovery: jax.Array


@dataclass(frozen=True)
class Scenario:
    name: str
    closures: tuple = ()


SCENARIOS = (
    Scenario("none"),
    Scenario("short closure", closures=((20, 35, 0.3),)),
    Scenario("two closures", closures=((15, 40, 0.25), (60, 80, 0.5))),
)


def contact_profile(scenario, days):
    profile = jnp.ones(days)
    for first, last, factor in scenario.closures:
        profile = profile.at[first:last].set(factor)
    return profile


def binomial_normal(key, n, p):
    mean = n * p
    noise = jax.random.normal(key) * jnp.sqrt(jnp.maximum(mean * (1 - p), 1e-6))
    return jnp.clip(mean + noise, 0.0, n)


def run(key, profile, rates, population=10000.0):
    def day(state, inputs):
        s, e, i, r = state
        factor, k = inputs
        k1, k2, k3 = jax.random.split(k, 3)
        force = 1.0 - jnp.exp(-rates.contact * factor * i / population)
        infected = binomial_normal(k1, s, force)
        sick = binomial_normal(k2, e, 1.0 - jnp.exp(-rates.onset))
        well = binomial_normal(k3, i, 1.0 - jnp.exp(-rates.recovery))
        state = (s - infected, e + infected - sick, i + sick - well, r + well)
        return state, state[2]

    start = (population - 10.0, jnp.float32(0.0), jnp.float32(10.0), jnp.float32(0.0))
    keys = jax.random.split(key, profile.shape[0])
    final, prevalence = jax.lax.scan(day, tuple(map(jnp.float32, start)), (profile, keys))
    return prevalence.max(), final


@partial(jax.jit, static_argnames=("replicates",))
def peaks_of(key, profile, rates, replicates):
    keys = jax.random.split(key, replicates)
    one = jax.vmap(run, in_axes=(0, None, None))
    return one(keys, profile, rates)[0]


rates = Rates(jnp.float32(0.5), jnp.float32(0.3), jnp.float32(0.2))
profiles = jnp.stack([contact_profile(s, 120) for s in SCENARIOS])
keys = jax.random.split(jax.random.key(2), len(SCENARIOS))
peaks = jnp.stack([peaks_of(k, p, rates, replicates=16) for k, p in zip(keys, profiles)])
means = peaks.mean(axis=1)
print("ordered", bool(means[0] > means[1]), peaks.shape)
error = peaks.std(axis=1) / jnp.sqrt(peaks.shape[1])
print("all finite", bool(jnp.isfinite(peaks).all()), "small errors", bool((error < 0.1 * means).all()))
