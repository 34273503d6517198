"""Error estimates without a reference solution."""
