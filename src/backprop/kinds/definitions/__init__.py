"""Definitions: array operations by the elementary operations of the kind of number below.

Whatever the numbers are, this is what an operation of arrays means: over many digits it is the measure of what NumPy
does with doubles, and over a kind that writes a graph it opens the operation into its scalar graph. To add an
operation, add a row to `ops/arrays.py`; where no method here gives its value yet, add one to the file that it belongs
to. Only where NumPy has the operation too does `kinds.doubles` get a faster method of the same name.
"""
