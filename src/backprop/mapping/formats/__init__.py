"""Formats of tables: a module here that has a `FORMAT` is one; see `mapping.tables`."""
