"""Make `import jax` give sagax in worker processes too.

`sagax.as_jax` puts this folder on `sys.path`, which multiprocessing, joblib and dask hand to the processes that
they start. Those run the script again, or load its functions, and find this module under the name of jax.
"""

import importlib
import sys

del sys.modules[__name__]
importlib.import_module("sagax.as_jax")
importlib.import_module(__name__)  # from now on sys.modules holds the alias, which `import` returns
