"""The command `map`: value and gradient for every row of a table.

`plan` holds what is asked. `tables` says what a reader yields and a writer takes, `formats` holds one module for each
format, `cells` makes numbers of columns, `kernels` work out whole columns at once and `careful` one row as `grad` does:
`worker` puts both together for a batch, and `run` leads the rows through. `counts` are of what is to be told, `totals`
are the sums, `sample` has the rows for the witnesses, and `command` says it all in words.

A large table is cut into parts (`partitions`, `lines`), each of which is a task (`tasks`) that is done here, in
processes or on a cluster (`crews`); `gathering` puts the parts together, in sums, in one file (`footers`) or in a
folder (`folders`), and `whole` sees to it that none is half written.
"""
