"""Distributions and bijectors of distrax: densities, draws, divergences, flows."""

import json

import distrax
import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(0)
x = jnp.array([0.1, 0.4, 0.7])

distributions = {
    "normal": distrax.Normal(0.5, 2.0),
    "beta": distrax.Beta(2.0, 3.0),
    "gamma": distrax.Gamma(2.0, 3.0),
    "logistic": distrax.Logistic(0.0, 1.0),
    "uniform": distrax.Uniform(0.0, 1.0),
    "mixture": distrax.MixtureSameFamily(
        distrax.Categorical(logits=jnp.array([0.0, 1.0])),
        distrax.Normal(jnp.array([0.0, 1.0]), 1.0),
    ),
    "transformed": distrax.Transformed(distrax.Normal(0.0, 1.0), distrax.Tanh()),
}
found = {f"log_prob_{k}": d.log_prob(x).tolist() for k, d in distributions.items()}
found |= {
    f"sample_{k}": d.sample(seed=key, sample_shape=(3,)).tolist() for k, d in distributions.items()
}

categorical = distrax.Categorical(logits=jnp.array([[0.1, 0.2, 0.7], [1.0, 0.0, -1.0]]))
gaussian = distrax.MultivariateNormalDiag(jnp.zeros(3), jnp.ones(3) * 2)
found["categorical_log_prob"] = categorical.log_prob(jnp.array([0, 2])).tolist()
found["categorical_entropy"] = categorical.entropy().tolist()
found["categorical_mode"] = categorical.mode().tolist()
found["divergence"] = float(gaussian.kl_divergence(distrax.MultivariateNormalDiag(x, jnp.ones(3))))
found["independent"] = float(distrax.Independent(distrax.Normal(x, 1.0), 1).log_prob(jnp.zeros(3)))


def flow(params):
    layers = [
        distrax.ScalarAffine(shift=params["shift"], scale=jnp.exp(params["scale"])),
        distrax.RationalQuadraticSpline(params["spline"], range_min=-3.0, range_max=3.0),
    ]
    return distrax.Transformed(distrax.Normal(jnp.zeros(3), 1.0), distrax.Chain(layers))


params = {"shift": jnp.array(0.3), "scale": jnp.array(-0.2), "spline": jnp.linspace(-1, 1, 13)}


@jax.jit
def loss(params, x):
    return -flow(params).log_prob(x).mean()


value, gradient = jax.value_and_grad(loss)(params, x)
found["flow"] = [float(value), *[float(jnp.abs(g).sum()) for g in jax.tree.leaves(gradient)]]
found["flow_draws"] = flow(params).sample(seed=key).tolist()

chain = distrax.HMM(
    distrax.Categorical(probs=jnp.array([0.6, 0.4])),
    distrax.Categorical(probs=jnp.array([[0.9, 0.1], [0.2, 0.8]])),
    distrax.Normal(jnp.array([0.0, 1.0]), jnp.array([1.0, 0.5])),
)
observed = jnp.array([0.1, 0.9, 1.1, -0.3])
alphas, betas, marginals, log_prob = chain.forward_backward(observed)
found["marginals"] = marginals.tolist()
found["likelihood"] = float(log_prob)
found["path"] = chain.viterbi(observed).tolist()
print(json.dumps(found))
