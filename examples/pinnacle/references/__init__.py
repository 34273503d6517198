"""Reference solutions of the problems without a closed form, by finite elements."""
