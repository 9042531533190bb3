import sagax

sagax.devices("abacus")  #~ SX0201 unknown platform 'abacus'
