"""Types of pytrees, samplers, neural networks and scipy."""

from typing import NamedTuple, assert_type

import numpy as np

import sagax
import sagax.numpy as snp
from sagax import Array, nn, random, tree
from sagax.experimental.ode import odeint


class Params(NamedTuple):
    w: Array
    b: Array


x = snp.ones((3, 3))
params = Params(x, x)
layers = [params, params]
named = {"w": x, "b": x}

# trees
assert_type(tree.map(lambda p: p * 2, params), Params)
assert_type(tree.map(lambda p, g: p - 0.1 * g, params, params), Params)
assert_type(tree.map(snp.zeros_like, layers), list[Params])
assert_type(tree.map(lambda p, g: p - 0.1 * g, named, named), dict[str, Array])
assert_type(tree.map(snp.asarray, {"a": 1.0, "b": 2.0}), dict[str, Array])
assert_type(tree.map(snp.shape, [x, x]), list[tuple[int, ...]])
assert_type(tree.map(lambda a: a + 1, x), Array)
assert_type(sagax.tree_util.tree_map(lambda p: -p, params), Params)
assert_type(len(tree.leaves(params)), int)
leaves, structure = tree.flatten(params)
assert_type(len(leaves), int)
assert_type(structure.num_leaves, int)
assert_type(tree.structure(params).num_leaves, int)
assert_type(tree.all({"a": True}), bool)

# random
key = random.key(0)
assert_type(key, Array)
assert_type(random.PRNGKey(0), Array)
assert_type(random.split(key), Array)
assert_type(random.split(key, 3), Array)
a, b = random.split(key)
assert_type(a, Array)
assert_type(random.fold_in(key, 1), Array)
assert_type(random.normal(key), Array)
assert_type(random.normal(key, (2, 3), snp.float32), Array)
assert_type(random.uniform(key, (3,), minval=-1.0, maxval=1), Array)
assert_type(random.randint(key, (3,), 0, 10), Array)
assert_type(random.bernoulli(key, 0.5, (3,)), Array)
assert_type(random.categorical(key, x, axis=-1), Array)
assert_type(random.choice(key, x, (2,), replace=False), Array)
assert_type(random.choice(key, 5), Array)
assert_type(random.permutation(key, x), Array)
assert_type(random.gamma(key, 2.0), Array)
assert_type(random.multivariate_normal(key, x[0], x), Array)
assert_type(random.truncated_normal(key, -1, 1, (3,)), Array)
assert_type(random.key_data(key), Array)

# nn
assert_type(nn.relu(x), Array)
assert_type(nn.gelu(x, approximate=False), Array)
assert_type(nn.softmax(x, axis=-1), Array)
assert_type(nn.log_softmax(x), Array)
assert_type(nn.one_hot(snp.arange(3), 3), Array)
assert_type(nn.sigmoid(x), Array)
assert_type(nn.logsumexp(x, axis=0), Array)
assert_type(nn.logsumexp(x, axis=0, return_sign=True), tuple[Array, Array])
assert_type(nn.standardize(x), Array)
assert_type(nn.initializers.he_normal()(key, (3, 3)), Array)
assert_type(nn.initializers.zeros(key, (3,), snp.float32), Array)
assert_type(nn.dot_product_attention(x, x, x, is_causal=True), Array)

# scipy, image, ops
assert_type(sagax.scipy.special.logsumexp(x), Array)
assert_type(sagax.scipy.special.gammaln(x), Array)
assert_type(sagax.scipy.stats.norm.logpdf(x, loc=0, scale=1), Array)
assert_type(sagax.scipy.stats.norm.ppf(x), Array)
assert_type(sagax.scipy.stats.binom.pmf(3, 10, x), Array)
assert_type(sagax.scipy.stats.multivariate_normal.logpdf(x[0], x[0], x), Array)
assert_type(sagax.scipy.fft.dct(x, axis=0, norm="ortho"), Array)
assert_type(sagax.scipy.ndimage.map_coordinates(x, [x, x], order=1), Array)
assert_type(sagax.scipy.cluster.vq.vq(x, x), tuple[Array, Array])


def decay(state: Params, t: Array) -> Params:
    return Params(-state.w * t, -state.b)


assert_type(odeint(decay, params, snp.linspace(0, 1, 5)), Params)
assert_type(sagax.scipy.linalg.solve_triangular(x, x[0], lower=True), Array)
assert_type(sagax.scipy.linalg.cho_factor(x), tuple[Array, bool])
assert_type(sagax.scipy.linalg.expm(x), Array)
assert_type(sagax.scipy.linalg.eigh(x), tuple[Array, Array])
assert_type(sagax.scipy.linalg.eigh(x, eigvals_only=True), Array)
assert_type(sagax.scipy.signal.convolve(x, x, mode="same"), Array)
assert_type(sagax.image.resize(x, (6, 6), method="bilinear"), Array)
assert_type(sagax.ops.segment_sum(x, snp.arange(3), num_segments=3), Array)
assert_type(sagax.nn.initializers.variance_scaling(1.0, "fan_in", "normal")(key, (3, 3)), Array)
flat, unravel = sagax.flatten_util.ravel_pytree(params)
assert_type(flat, Array)
assert_type(unravel(flat), Params)


@tree.dataclass
class Point:
    x: Array
    y: Array


assert_type(Point(x, x).x, Array)
assert_type(tree.map(lambda a: a * 2, Point(x, x)), Point)
assert_type(np.asarray(Point(x, x).y).size, int)
