"""Other packages' optimizers on the study's problems."""
