# error: none
# expect: RecompilationWarning
# jax-differs: jax compiles again for each replaced config
# line: 33
# also-line: 24
# depends: cfg
# fix: traced_argument
# fixed-file: fixed/schedule_static_config.py
# result: magnetisation 0.0738 ; monotone end True

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class AnnealConfig:
    temperature: float
    coupling: float = 0.7


@partial(jax.jit, static_argnames=("cfg",))
def mean_field(m, cfg):
    field = cfg.coupling * (jnp.roll(m, 1) + jnp.roll(m, -1))
    return jnp.tanh(field / cfg.temperature)


def anneal(m, cfg, steps, cooling=0.9):
    history = []
    for _ in range(steps):
        m = mean_field(m, cfg)
        history.append(float(jnp.abs(m).mean()))
        cfg = replace(cfg, temperature=cfg.temperature * cooling)
    return m, history


m0 = 0.2 + 0.1 * jnp.sin(jnp.arange(10.0))
m, history = anneal(m0, AnnealConfig(temperature=3.0), steps=14)
print("magnetisation", round(history[-1], 4))
print("monotone end", history[-1] > history[-2])
