"""Differential equations, linear and nonlinear systems, with derivatives: diffrax, lineax, optimistix."""

import json

import diffrax
import jax
import jax.numpy as jnp
import lineax
import optimistix


def f(t, y, args):
    return -y + jnp.sin(t) * args


def solved(a):
    return diffrax.diffeqsolve(
        diffrax.ODETerm(f),
        diffrax.Tsit5(),
        0.0,
        3.0,
        0.1,
        jnp.array([1.0, 2.0]),
        args=a,
        saveat=diffrax.SaveAt(ts=jnp.linspace(0, 3, 5)),
        stepsize_controller=diffrax.PIDController(rtol=1e-5, atol=1e-5),
    ).ys


def stochastic():
    noise = diffrax.VirtualBrownianTree(0, 3, 1e-2, (2,), jax.random.key(0))
    terms = diffrax.MultiTerm(
        diffrax.ODETerm(f),
        diffrax.ControlTerm(lambda t, y, a: lineax.DiagonalLinearOperator(0.1 * y), noise),
    )
    return diffrax.diffeqsolve(terms, diffrax.Heun(), 0, 3, 0.05, jnp.ones(2), args=1.0).ys


operator = lineax.MatrixLinearOperator(
    jnp.array([[3.0, 1.0], [1.0, 2.0]]), lineax.positive_semidefinite_tag
)
b = jnp.array([1.0, 2.0])
newton = optimistix.Newton(1e-6, 1e-6)


def root(a):
    return optimistix.root_find(lambda y, a: y**2 - a, newton, jnp.array(1.0), a).value


found = {
    "equation": solved(1.0),
    "its derivative": jax.grad(lambda a: solved(a).sum())(1.0),
    "many": jax.jit(jax.vmap(lambda a: solved(a)[-1]))(jnp.arange(3.0)),
    "stochastic": stochastic(),
    "linear": lineax.linear_solve(operator, b).value,
    "conjugate gradients": lineax.linear_solve(operator, b, lineax.CG(1e-6, 1e-6)).value,
    "derivative of linear": jax.grad(lambda b: lineax.linear_solve(operator, b).value.sum())(b),
    "root": root(2.0),
    "its derivative too": jax.grad(root)(2.0),
    "least": optimistix.minimise(
        lambda y, a: ((y - a) ** 2).sum(),
        optimistix.BFGS(1e-5, 1e-5),
        jnp.zeros(3),
        jnp.arange(3.0),
    ).value,
    "least squares": optimistix.least_squares(
        lambda y, a: y - a,
        optimistix.LevenbergMarquardt(1e-5, 1e-5),
        jnp.zeros(3),
        jnp.arange(3.0),
    ).value,
}
print(json.dumps({name: jnp.asarray(x).tolist() for name, x in found.items()}))
