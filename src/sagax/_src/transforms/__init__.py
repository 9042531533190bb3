"""Transform jaxprs and functions: one transformation a file."""
