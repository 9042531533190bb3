"""Generic types of higher-order functions of `lax`, and results of its operations."""

from typing import NamedTuple, assert_type

import sagax
import sagax.numpy as snp
from sagax import Array, lax


class State(NamedTuple):
    position: Array
    velocity: Array


def step(state: State, force: Array) -> tuple[State, Array]:
    velocity = state.velocity + force
    return State(state.position + velocity, velocity), velocity


def add(total: Array, x: Array) -> tuple[Array, None]:
    return total + x, None


def grow(state: State) -> State:
    return State(state.position * 2, state.velocity)


def small(state: State) -> Array:
    return snp.sum(state.position) < 100


x = snp.ones(3)
state = State(x, x)

assert_type(lax.scan(step, state, x), tuple[State, Array])
assert_type(lax.scan(add, x, x), tuple[Array, None])
assert_type(lax.scan(add, 0.0, x)[0], Array)
final, velocities = lax.scan(step, state, x, reverse=True, unroll=2)
assert_type(final, State)
assert_type(velocities, Array)


def without_input(carry: Array, _: None) -> tuple[Array, Array]:
    return carry, carry


assert_type(lax.scan(without_input, x, None, length=3), tuple[Array, Array])
assert_type(lax.scan(without_input, x, length=3), tuple[Array, Array])

assert_type(lax.while_loop(small, grow, state), State)
assert_type(lax.while_loop(lambda n: n < 10, lambda n: n + 1, snp.array(0)), Array)
assert_type(lax.fori_loop(0, 10, lambda i, s: grow(s), state), State)


def body(i: Array, total: Array) -> Array:
    return total + i


assert_type(lax.fori_loop(0, 10, body, x), Array)
assert_type(lax.fori_loop(0, 10, body, 0.0), Array)

# with a progress bar
assert_type(lax.scan(step, state, x, progress=True), tuple[State, Array])
assert_type(lax.fori_loop(0, 10, body, x, progress="training"), Array)
assert_type(lax.while_loop(small, grow, state, max_steps=9, progress=True), State)

assert_type(lax.cond(x[0] > 0, grow, grow, state), State)
assert_type(lax.cond(True, snp.sin, snp.cos, x), Array)
assert_type(lax.cond(x[0] > 0, lambda: x, lambda: -x), Array)
assert_type(lax.switch(1, [snp.sin, snp.cos], x), Array)
assert_type(lax.switch(snp.array(1), (grow, grow), state), State)
assert_type(lax.map(lambda row: snp.sum(row), x), Array)
assert_type(lax.map(grow, state, batch_size=2), State)
assert_type(lax.associative_scan(snp.add, x), Array)
assert_type(lax.associative_scan(lambda a, b: a * b, x, reverse=True), Array)

assert_type(lax.add(x, 1.0), Array)
assert_type(lax.exp(x), Array)
assert_type(lax.rsqrt(x), Array)
assert_type(lax.select(x > 0, x, -x), Array)
assert_type(lax.stop_gradient(x), Array)
assert_type(lax.stop_gradient(state), State)
assert_type(lax.dynamic_slice(x, (0,), (2,)), Array)
assert_type(lax.dynamic_update_slice(x, x[:2], (1,)), Array)
assert_type(lax.dot_general(x, x, (((0,), (0,)), ((), ()))), Array)
assert_type(lax.conv_general_dilated(x, x, (1,), "SAME"), Array)
assert_type(lax.top_k(x, 2), tuple[Array, Array])
assert_type(lax.iota(snp.int32, 3), Array)
assert_type(lax.psum(x, "i"), Array)
assert_type(lax.pmean(state, "i"), State)
assert_type(lax.axis_index("i"), Array)
assert_type(lax.cumsum(x), Array)
assert_type(lax.broadcast_in_dim(x, (2, 3), (1,)), Array)
assert_type(lax.convert_element_type(x, snp.int32), Array)
assert_type(lax.reduce(x, 0.0, lax.add, (0,)), Array)
assert_type(lax.with_sharding_constraint(x, sagax.P("i")), Array)
assert_type(lax.linalg.cholesky(x), Array)
assert_type(lax.sort(x), Array)
assert_type(lax.reshape(x, (3, 1)), Array)
assert_type(lax.square(x), Array)
