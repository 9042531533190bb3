import sagax

sagax.devices("abacus")  #~ SX0201 Unknown backend 'abacus'
