"""Programs that use keraspinn; those of several files run by `python -m examples.…`."""
