"""Captions by several systems, compared in pairs."""
