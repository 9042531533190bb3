"""Resize, scale and translate images."""

from sagax.image._resize import ResizeMethod, resize, scale_and_translate
