"""Models of penzai: a named-array MLP, its gradient and a training step, selections, named axes."""

import json

import jax
import jax.numpy as jnp
import optax
from penzai import pz
from penzai.models import simple_mlp

mlp = simple_mlp.MLP.from_config(
    name="mlp", init_base_rng=jax.random.key(0), feature_sizes=[4, 8, 2]
)
x = pz.nx.wrap(jnp.linspace(-1.0, 1.0, 12).reshape(3, 4)).tag("batch", "features")
found = {"forward": mlp(x).unwrap("batch", "features").ravel().tolist()}

params, frozen = pz.unbind_params(mlp, freeze=True)[::-1]


def loss(values):
    out = pz.bind_variables(frozen, values)(x).unwrap("batch", "features")
    return jnp.mean((out - 1.0) ** 2)


optimizer = optax.sgd(0.1)
state = optimizer.init(params)
losses = []
for _ in range(5):
    value, gradient = jax.jit(jax.value_and_grad(loss))(params)
    updates, state = optimizer.update(gradient, state)
    params = optax.apply_updates(params, updates)
    losses.append(float(value))
found["losses"] = losses

linear = pz.select(mlp).at_instances_of(pz.nn.Linear)
found["linear layers"] = [float(linear.count())]
a = pz.nx.wrap(jnp.arange(6.0).reshape(2, 3)).tag("rows", "columns")
total = pz.nx.nmap(jnp.sum)(a.untag("rows"))
found["named sums"] = total.unwrap("columns").tolist()
print(json.dumps(found))
