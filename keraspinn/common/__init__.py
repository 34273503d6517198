"""Helpers for all folders: checks of arguments, saved configurations, files."""
