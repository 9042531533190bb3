"""Images: resizing, scaling and moving them."""

from sagax.image._resize import ResizeMethod, resize, scale_and_translate

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]
