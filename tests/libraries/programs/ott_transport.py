"""Optimal transport of ott: Sinkhorn, low rank, its derivative, distances of point clouds."""

import json

import jax
import jax.numpy as jnp
from ott.geometry import costs, geometry, pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn
from ott.tools import sinkhorn_divergence

x = jax.random.normal(jax.random.PRNGKey(0), (12, 2))
y = jax.random.normal(jax.random.PRNGKey(1), (9, 2)) + 1.0
weights = jax.nn.softmax(jnp.linspace(-1.0, 1.0, 12))


def solved(x, y, **options):
    geom = pointcloud.PointCloud(x, y, epsilon=0.1, **options)
    return sinkhorn.Sinkhorn()(linear_problem.LinearProblem(geom, a=weights))


def cost(x):
    return solved(x, y).reg_ot_cost


plan = jax.jit(solved)(x, y)
value, slope = jax.value_and_grad(cost)(x)
matrix = geometry.Geometry(cost_matrix=jnp.abs(x[:, :1] - y[:, 0]), epsilon=0.2)
found = {
    "plan": plan.matrix.sum(1).tolist(),
    "cost": float(plan.reg_ot_cost),
    "converged": int(plan.converged),
    "value": float(value),
    "slope": slope.tolist(),
    "manhattan": float(solved(x, y, cost_fn=costs.PNormP(1.5)).reg_ot_cost),
    "matrix": float(sinkhorn.Sinkhorn()(linear_problem.LinearProblem(matrix)).reg_ot_cost),
    "divergence": float(
        sinkhorn_divergence.sinkhorn_divergence(pointcloud.PointCloud, x, y, epsilon=0.1)[0]
    ),
}
print(json.dumps(found))
