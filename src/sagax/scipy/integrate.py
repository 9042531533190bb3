"""Integrate sampled functions.

>>> import sagax.numpy as snp
>>> from sagax.scipy import integrate
>>> float(integrate.trapezoid(snp.array([1.0, 2.0, 3.0])))
4.0
"""

from sagax.numpy import trapezoid
