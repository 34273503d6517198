"""Problems from many fields, each a program of its own under 60 lines."""
