"""What is found in TensorFlow's place where it shall be as if it were not installed."""

raise ModuleNotFoundError("TensorFlow is not to be had in this test.")
