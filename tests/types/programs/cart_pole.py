"""Learn to balance a pole by the policy gradient."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sagax
import sagax.numpy as snp
from sagax import Array, lax, nn, random


@sagax.tree_util.register_dataclass
@dataclass(frozen=True)
class CartPole:
    x: Array
    speed: Array
    angle: Array
    rotation: Array

    def observation(self) -> Array:
        return snp.array([self.x, self.speed, self.angle, self.rotation])

    def push(self, force: Array, dt: float = 0.02) -> "CartPole":
        sin, cos = snp.sin(self.angle), snp.cos(self.angle)
        inner = (force + 0.05 * self.rotation**2 * sin) / 1.1
        turn = (9.8 * sin - cos * inner) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        acceleration = inner - 0.05 * turn * cos / 1.1
        return CartPole(
            self.x + dt * self.speed,
            self.speed + dt * acceleration,
            self.angle + dt * self.rotation,
            self.rotation + dt * turn,
        )

    @property
    def alive(self) -> Array:
        return (snp.abs(self.x) < 2.4) & (snp.abs(self.angle) < 0.2)


def policy(weights: Array, observation: Array) -> Array:
    return nn.log_softmax(weights @ observation)


def rollout(weights: Array, key: Array, n: int) -> tuple[Array, Array]:
    def step(state: tuple[CartPole, Array], key: Array) -> tuple[tuple[CartPole, Array], Array]:
        pole, alive = state
        log_p = policy(weights, pole.observation())
        action = random.categorical(key, log_p)
        pole = pole.push(snp.where(action == 1, 10.0, -10.0))
        alive = alive & pole.alive
        return (pole, alive), snp.array([log_p[action] * alive, alive])

    start = random.uniform(key, (4,), minval=-0.05, maxval=0.05)
    pole = replace(CartPole(*start), x=snp.zeros(()))
    _, out = lax.scan(step, (pole, pole.alive), random.split(key, n))
    return out[:, 0].sum(), out[:, 1].sum()


def loss(weights: Array, keys: Array) -> tuple[Array, Array]:
    scores, rewards = sagax.vmap(lambda k: rollout(weights, k, 20))(keys)
    advantage = lax.stop_gradient(rewards - rewards.mean())
    return -snp.mean(scores * advantage), rewards.mean()


def batches(key: Array, size: int) -> Iterator[Array]:
    while True:
        key, now = random.split(key)
        yield random.split(now, size)


weights = snp.zeros((2, 4))
slope = sagax.jit(sagax.grad(loss, has_aux=True))
for number, keys in enumerate(batches(random.key(0), 4)):
    if number == 3:
        break
    grads, reward = slope(weights, keys)
    weights -= 0.1 * grads
    print(number, f"{float(reward):.1f}", snp.linalg.norm(grads) >= 0)
