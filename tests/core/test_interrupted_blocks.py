"""Test that a signal handler that raises leaves no block entered: traces, settings, meshes, marks."""

from __future__ import annotations

import inspect

import pytest

_PROGRAM = """
import itertools, signal
import numpy as np
import sagax
from sagax._src import config
from sagax._src.core.trace import AxisTrace, current, entered, evaluation, state
from sagax._src.source_stacks import written
from sagax.experimental.xla_metadata import set_xla_metadata

class Interrupt(BaseException): pass
def interrupt(*_): raise Interrupt
signal.signal(signal.SIGALRM, interrupt)

mesh = sagax.sharding.Mesh(np.array(sagax.devices()[:1]), ("x",))
marked = set_xla_metadata(group=1)
caught = []
def catch_inside(x):
    try:
        for _ in repetitions:
            x * 2
    except Interrupt:
        caught.append(state.trace is x._trace)
    return x

def traces():
    with entered(AxisTrace(evaluation, ())):
        with current(evaluation):
            pass
def settings():
    with config.context(x64=True), config.context(debug_nans=True):
        pass
def meshes():
    with mesh, sagax.sharding.use_abstract_mesh(mesh.abstract_mesh):
        pass
def marks():
    with marked:
        pass
def jvps():
    sagax.jvp(catch_inside, (1.0,), (1.0,))
def maps():
    sagax.vmap(catch_inside)(np.ones(2))

work = {name}
repetitions = range(1)
work()  # imports most of what is imported when first used
caught.clear()
repetitions = itertools.repeat(None)
before = config.thread.settings, config.thread.entered, written.here.scope
left = 0
for i in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0002 + i % 7 * 1e-5, 0.5)  # again, since Python's locks of imports drop exceptions
        while True:
            work()
            if len(caught) > i: break
    except Interrupt:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    caught += [True] * (i + 1 - len(caught))
    left += state.trace is not evaluation or (config.thread.settings, config.thread.entered, written.here.scope) != before
print(left, caught.count(False))
"""


@pytest.mark.parametrize("name", ["traces", "settings", "meshes", "marks", "jvps", "maps"])
def test_nothing_is_left_entered(run_python, name):
    done = run_python("-c", inspect.cleandoc(_PROGRAM).replace("{name}", name))
    assert done.stdout.split() == ["0", "0"], done.stderr
