"""Accuracy: what doubles have lost, and the true number in its place.

`rounding` says what doubles may be wrong by, `fine` works the point out with many digits, `mending` answers with the
true number where too little is left; `lost_digits` names the node to blame, `rewrites` the same function written
better.
"""
