# One correct fixed version of schedule_static_config.py
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class AnnealConfig:
    temperature: float
    coupling: float = 0.7


@jax.jit
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
