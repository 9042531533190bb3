"""Assign observations to clusters: `vq`."""

from sagax.scipy.cluster import vq as vq
