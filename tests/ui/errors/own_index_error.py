from _library import window

window([3, 1, 4, 1], start=2, size=3)  #~ SX0113 window: the window ends after the data
