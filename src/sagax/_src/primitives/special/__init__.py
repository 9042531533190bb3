"""Special functions, element by element, of floating point numbers: import the module that is needed."""
