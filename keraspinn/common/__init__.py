"""What every room may lean on: checks of arguments, saved configurations, files."""
