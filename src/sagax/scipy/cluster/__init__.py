"""Assign observations to clusters: `vq`."""

from __future__ import annotations

from sagax.scipy.cluster import vq

__all__ = ["vq"]
