"""Tell the version of jaxlib; older jax had functions of the compiler here.

>>> from sagax import lib
>>> lib.__version__.count(".") >= 2
True
"""

from sagax._src.xla.engine import engine_version_text as __version__
