"""Scales of coordinates, fields and terms, from the declaration alone."""
