"""Nested sampling of jaxns: a model of priors, its densities, and a short run with its evidence and posterior."""

import json

import jax
import jax.numpy as jnp
from jaxns.core import NestedSampler
from jaxns.model import Model
from jaxns.priors import Prior
from tensorflow_probability.substrates import jax as tfp

tfpd = tfp.distributions


def line(x, y, width):
    intercept = Prior(tfpd.Normal(loc=0.0, scale=1.0), name="intercept").realise()
    slope = Prior(tfpd.Normal(loc=0.0, scale=2.0), name="slope").realise()
    return jnp.sum(tfpd.Normal(loc=intercept + slope * x, scale=width).log_prob(y))


model = Model(prior_model=line)
points = jnp.linspace(0.0, 1.0, 6)
args = (points, jnp.asarray([0.15, 0.32, 0.83, 1.08, 1.52, 1.77]), jnp.asarray(0.15))
u = model.sample_U(jax.random.PRNGKey(1), args=args)
slopes = jax.grad(lambda u: model.log_joint(u, args=args))(u)
found = {
    "cube": [float(x) for x in jax.tree.leaves(u)],
    "likelihood": [float(model.log_likelihood(u, args=args))],
    "joint": [float(model.log_joint(u, args=args))],
    "slopes": [float(x) for x in jax.tree.leaves(slopes)],
}
sampler = NestedSampler(model=model, max_samples=120, root_allocation_degree=20)
results = sampler.run(key=jax.random.PRNGKey(6), args=args).to_result().trim()
found["evidence"] = [float(results.log_Z_mean), float(results.log_Z_uncert)]
posterior = results.resample(200, key=jax.random.PRNGKey(7))
found["mean"] = [float(posterior.integrate_fn_over_posterior(lambda x: x["slope"]))]
print(json.dumps(found))
