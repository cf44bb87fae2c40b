"""Notation: how a derivative is written."""

from __future__ import annotations


def slope(above: str, below: str) -> str:
    """The derivative of one node with respect to another, as it is written."""
    return f"∂{above}/∂{below}"


def slope_of_slope(above: str, by: str, then: str) -> str:
    """The second derivative by one variable and then another, as it is written: ∂²f/∂x², by x and then y ∂²f/∂y∂x."""
    return f"∂²{above}/∂{by}²" if by == then else f"∂²{above}/∂{then}∂{by}"
