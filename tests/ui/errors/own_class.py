from _library import read_units

read_units("5 parsecs", known=("m", "s"))  #~ SX0001 unit 'parsecs' is not known
