"""Name what `VJP.with_refs` takes in place of references, and returns in place of gradients.

>>> from sagax import ad
>>> value, pull = sagax.vjp(lambda x, y: x * y, 2.0, 3.0)
>>> pull.with_refs(ad.GradValue(), ad.DontWant())(1.0)
(Array(3., dtype=float32, weak_type=True), DidntWant())
"""

from sagax._src.api.vjp_function import DidntWant, DontWant, GradRef, GradValue

__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]
