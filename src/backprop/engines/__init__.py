"""Engines: value, partials, adjoints and their errors of a large program in double precision, by one walk each way.

A tape is a program that walks over a graph: forward once, putting value and partials beside every node and edge, and
back once. Its source is written from the rows of the table (`tape`), so that a new row works here with nothing else to
touch, and it calls what kind real calls in the same order: the same bits. `plain` runs it in Python, `fast` compiles it
with numba. A tape answers for ordinary points only, where everything is finite; elsewhere it declines, and the engines
that are right about everything (`values`, `rules`, `reverse`, `accuracy.rounding`) take over.
"""
