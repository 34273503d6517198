"""Programs that use keraspinn; folders run as `python -m examples.…`."""
