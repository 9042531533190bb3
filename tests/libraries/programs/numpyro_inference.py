"""Inference of numpyro: potential energies, variational inference, importance weights, Hamiltonian sampling."""

import json

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro import handlers
from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO, autoguide, log_likelihood
from numpyro.infer.util import initialize_model, log_density

x = jnp.linspace(-1.0, 1.0, 20)
y = 0.5 + 2.0 * x + 0.1 * jax.random.normal(jax.random.PRNGKey(1), (20,))


def regression(x, y=None):
    intercept = numpyro.sample("intercept", dist.Normal(0.0, 1.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 3.0))
    scale = numpyro.sample("scale", dist.HalfNormal(1.0))
    with numpyro.plate("data", len(x)):
        return numpyro.sample("y", dist.Normal(intercept + slope * x, scale), obs=y)


def densities():
    samples = {"intercept": 0.1, "slope": 1.5, "scale": 0.7}
    value, trace = log_density(regression, (x, y), {}, samples)
    found = initialize_model(jax.random.PRNGKey(0), regression, model_args=(x, y))
    energy = found.potential_fn({"intercept": 0.1, "slope": 1.5, "scale": -0.3})
    force = jax.grad(found.potential_fn)({"intercept": 0.1, "slope": 1.5, "scale": -0.3})
    return [float(value), float(energy), *map(float, jax.tree.leaves(force)), len(trace)]


def variational():
    guide = autoguide.AutoNormal(regression)
    svi = SVI(regression, guide, numpyro.optim.Adam(0.02), Trace_ELBO())
    result = svi.run(jax.random.PRNGKey(2), 50, x, y, progress_bar=False)
    return [float(v) for v in result.losses[::10]]


def sampled():
    # long chains amplify rounding: the means of the posterior, to the digits that any chain has
    mcmc = MCMC(NUTS(regression), num_warmup=150, num_samples=400, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(3), x, y)
    return {k: round(float(v.mean()), 1) for k, v in mcmc.get_samples().items() if k != "scale"}


def predicted():
    prior = Predictive(regression, num_samples=4)(jax.random.PRNGKey(4), x)
    posterior = {"intercept": jnp.ones(3), "slope": jnp.arange(3.0), "scale": jnp.full(3, 0.5)}
    return [
        prior["y"].sum(1).tolist(),
        log_likelihood(regression, posterior, x, y)["y"].sum(1).tolist(),
    ]


def distributions():
    value = jnp.array([0.2, 0.3, 0.5])
    made = {
        "dirichlet": dist.Dirichlet(jnp.array([1.0, 2.0, 3.0])).log_prob(value),
        "student": dist.StudentT(3.0, 0.0, 2.0).log_prob(value),
        "beta": dist.Beta(2.0, 3.0).log_prob(value),
        "mixture": dist.MixtureSameFamily(
            dist.Categorical(jnp.array([0.3, 0.7])), dist.Normal(jnp.array([0.0, 1.0]), 1.0)
        ).log_prob(value),
        "lkj": dist.LKJCholesky(3, 1.5).log_prob(jnp.eye(3)),
        "gaussian": dist.MultivariateNormal(jnp.zeros(3), jnp.eye(3) * 2).log_prob(value),
        "draws": dist.Gamma(2.0, 3.0).sample(jax.random.PRNGKey(5), (4,)),
    }
    return {k: v.tolist() for k, v in made.items()}


seeded = handlers.seed(regression, jax.random.PRNGKey(6))
found = {
    "densities": densities(),
    "losses": variational(),
    "prior": predicted()[0],
    "likelihood": predicted()[1],
    "draw": seeded(x).tolist(),
    **{f"posterior_{k}": v for k, v in sampled().items()},
    **distributions(),
}
print(json.dumps(found))
