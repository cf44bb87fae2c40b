"""What engines share: the straight line that they work out, and what rounding may do to its answers."""
