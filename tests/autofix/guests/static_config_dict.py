# error: ValueError
# expect: ValueError | TypeError
# line: 24
# also-line: 16
# depends: config
# fix: hashable_static
# fixed-file: fixed/static_config_dict.py
# result: [0.0, 0.005, 0.01, 0.00818]

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="config")
def schedule(step, config):
    warm = jnp.minimum(step / config["warmup"], 1.0)
    decay = config["decay"] ** jnp.maximum(step - config["warmup"], 0)
    return config["peak"] * warm * decay


config = {"peak": 1e-2, "warmup": 10, "decay": 0.99}
rates = [schedule(step, config=config) for step in (0, 5, 10, 30)]
print([round(float(rate), 5) for rate in rates])
