"""Gallery of problems from many fields, each a program of fewer than 60 lines."""
