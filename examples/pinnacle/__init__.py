"""Problems of the PINNacle benchmark, each a program of its own of at most 60 lines."""
