"""Rotate vectors in three dimensions.

>>> from sagax.scipy.spatial.transform import Rotation
>>> Rotation.identity().as_quat().tolist()
[0.0, 0.0, 0.0, 1.0]
"""

from sagax.scipy.spatial import transform

__all__ = ["transform"]
