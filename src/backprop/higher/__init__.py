"""Higher derivatives: Hessians, products with vectors, Taylor series.

`gradient_graph` writes the gradient as a graph, `curvature` decides each second derivative with the `differences` of
values as its judge, `taylor` gives series along a line; `hessians` and `directions` answer questions.
"""
