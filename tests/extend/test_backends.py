"""Platforms that libraries add, and new clients after the old ones were forgotten."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import numpy as np
import sagax, sagax.numpy as snp
from sagax._src import xla
from sagax.extend import backend

x = snp.arange(4.0)
assert sagax.device_count("cpu") == 1
backend.register_backend_factory("mirror", lambda: xla.client.make_cpu_client(3), priority=300)
backend.clear_backends()
sagax.config.update("num_cpu_devices", 2)
assert sagax.device_count("cpu") == 2
assert sagax.default_backend() == "mirror" and sagax.device_count() == 3
assert set(backend.backends()) == {"mirror", "cpu"}
np.testing.assert_array_equal(np.asarray(x), [0, 1, 2, 3])
y = sagax.jit(lambda x: x * 2)(np.arange(3.0, dtype=np.float32))
np.testing.assert_array_equal(np.asarray(y), [0, 2, 4])
try:
    backend.register_backend_factory("mirror", xla.client.make_cpu_client)
except RuntimeError as error:
    assert "has been started already" in str(error)
else:
    raise AssertionError("a started platform was replaced")
"""


def test_a_platform_that_a_library_adds_and_new_clients():
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


RUN_AGAIN = """
import numpy as np
import sagax, sagax.numpy as snp
from sagax import random
from sagax.extend import backend
from sagax.scipy import special, stats

double = sagax.jit(lambda x: x * 2 + 1)


def everything():
    key = random.key(3)
    x = snp.linspace(0.1, 0.9, 3)
    draws = random.randint(key, (3,), 0, 10), random.normal(key, (2,)), random.gamma(key, 2.0), random.choice(key, 5)
    found = [*draws, double(x), double(2.0), snp.clip(x, 0.2, 0.5), snp.linalg.inv(snp.eye(2)), sagax.nn.softmax(x)]
    found += [getattr(special, name)(snp.asarray(0.5)) for name in ("erf", "ndtr", "gammaln", "digamma", "i0e", "expit")]
    found += [special.xlogy(x, 2.0), stats.beta.pdf(0.3, 2.0, 3.0), stats.norm.logpdf(x, 0.0, 2.0), sagax.grad(special.erf)(0.5)]
    return [np.asarray(x) for x in found]


before = everything()
backend.clear_backends()
for x, y in zip(before, everything(), strict=True):
    np.testing.assert_array_equal(x, y)
"""


def test_what_ran_before_runs_on_new_clients():
    found = subprocess.run([sys.executable, "-c", RUN_AGAIN], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
