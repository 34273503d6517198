"""TensorFlow's side of the backend."""
