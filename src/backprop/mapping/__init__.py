"""The command `map`: value and gradient for every row of a table.

`tables` says what a reader yields and a writer takes, `formats` holds one module for each format, `cells` makes numbers
of columns, `kernels` work out whole columns at once and `careful` one row as `grad` does; `run` leads the rows through.
"""
