"""Problems of the PINNacle benchmark, each a program of fewer than 60 lines."""
