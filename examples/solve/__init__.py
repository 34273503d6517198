"""Short programs that declare a problem and solve it by one call."""
