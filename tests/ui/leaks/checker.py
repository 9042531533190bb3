"""The leak checker, when the function returns."""
import sagax

history = []


def record(value):
    history.append(value)  #~ SX0107 Leaked Trace
    return value


@sagax.jit
def move(position, speed):
    return position + record(0.5 * speed)


with sagax.checking_leaks():
    move(0.0, 2.0)
