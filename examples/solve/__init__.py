"""Problems as a new user states them, each solved by one call."""
