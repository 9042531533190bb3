import sagax
import sagax.numpy as jnp


class Meter:
    def __init__(self, name):
        self.name = name

    def show(self, value):
        print(self.name, value)  #~ SX0401 print in a traced function prints once


meter = Meter("error")


def step(guess, target):
    error = target - guess
    meter.show(error)
    return guess + 0.5 * error, error


_, errors = sagax.jit(lambda xs: sagax.lax.scan(step, 0.0, xs))(jnp.array([4.0, 2.0]))
print(errors)
