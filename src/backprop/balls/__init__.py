"""Balls: numbers that are enclosed and never only approximated, for kind certified.

`ball` holds one with its arithmetic, `functions` the elementary functions; `ranges`, `enclosures` and `narrower` keep
the enclosures of a function, a rule and a whole program narrow; `certificates` tells how far doubles are from them.
"""
