from _library import loop

loop({"w": 1.0, "n": 0}, {"w": 1.0, "n": 0.5})  # ~ SX0004 a value changed its type
