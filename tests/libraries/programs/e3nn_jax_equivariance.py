"""Equivariant functions of e3nn: irreps, products, harmonics, gates, signals on spheres, and a network on a point cloud."""

import json

import e3nn_jax as e3nn
import flax
import jax
import jax.numpy as jnp

found = {}
x = e3nn.normal("2x0e + 1x1o + 1x2e", jax.random.PRNGKey(0), (3,))
y = e3nn.normal("1x0o + 1x1e", jax.random.PRNGKey(1), (3,))
product = e3nn.tensor_product(x, y)
found["product"] = [*product.array.ravel().tolist(), product.irreps.dim, len(product.irreps)]
found["norm"] = e3nn.norm(product.regroup()).array.ravel().tolist()
points = jax.random.normal(jax.random.PRNGKey(2), (5, 3))
found["harmonics"] = (
    e3nn.spherical_harmonics("0e + 1o + 2e + 3o", points, True).array.ravel().tolist()
)
found["gate"] = e3nn.gate(e3nn.normal("3x0e + 1x1o + 1x2e", jax.random.PRNGKey(3))).array.tolist()
found["gaunt"] = jnp.ravel(e3nn.clebsch_gordan(1, 1, 2)).tolist()
signal = e3nn.to_s2grid(e3nn.normal("0e + 1o + 2e", jax.random.PRNGKey(4)), 8, 9, quadrature="soft")
found["sphere"] = jnp.ravel(signal.grid_values).tolist()
found["sphere back"] = e3nn.from_s2grid(signal, "0e + 1o + 2e").array.tolist()
angles = jnp.array([0.3, -0.7, 1.1])
rotation = e3nn.angles_to_matrix(*angles)
found["rotated"] = (
    e3nn.IrrepsArray("1o + 2e", jnp.arange(8.0)).transform_by_angles(*angles).array.tolist()
)
sources, targets = e3nn.radius_graph(points, 1.7)
found["graph"] = [*sources.tolist(), *targets.tolist()]


class Layer(flax.linen.Module):
    """One convolution on the graph of near points."""

    @flax.linen.compact
    def __call__(self, features, points):
        edges = e3nn.IrrepsArray("1o", points[targets] - points[sources])
        harmonics = e3nn.spherical_harmonics("0e + 1o + 2e", edges, True)
        lengths = jnp.linalg.norm(edges.array, axis=1)
        radial = e3nn.bessel(lengths, 4, 2.0) * e3nn.poly_envelope(5, 2)(lengths / 2.0)[:, None]
        messages = e3nn.tensor_product(features[sources], harmonics)
        weights = e3nn.flax.MultiLayerPerceptron([8, messages.irreps.num_irreps], jax.nn.gelu)(
            radial
        )
        gathered = e3nn.scatter_sum(messages * weights, dst=targets, output_size=len(points))
        return e3nn.gate(e3nn.flax.Linear("3x0e + 1x1o + 1x2e")(gathered))


layer = Layer()
features = e3nn.IrrepsArray("2x0e", jnp.ones((5, 2)))
params = layer.init(jax.random.PRNGKey(5), features, points)
apply = jax.jit(layer.apply)
out = apply(params, features, points)
found["layer"] = out.array.ravel().tolist()
turned = apply(params, features, points @ rotation.T)
found["equivariant"] = [
    float(jnp.abs(turned.array - out.transform_by_matrix(rotation).array).max() < 1e-5)
]
gradient = jax.jit(jax.grad(lambda p: jnp.sum(apply(p, features, points).array ** 2)))(params)
found["gradient"] = [float(jnp.linalg.norm(g)) for g in jax.tree.leaves(gradient)]
print(json.dumps(found))
