"""Define higher-order primitives, and the functions that bind them."""
