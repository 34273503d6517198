"""Problems of the PINNacle benchmark, each a program of its own under 60 lines."""
