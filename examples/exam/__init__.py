"""Exam of `solve`: problems with known solutions, solved to a tolerance."""
