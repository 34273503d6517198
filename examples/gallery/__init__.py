"""Problems from many fields, each a program of its own of at most 60 lines."""
