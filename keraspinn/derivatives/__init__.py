"""Derivatives of a network's outputs by its inputs."""
