"""Derivatives of a network's outputs with respect to its inputs."""
