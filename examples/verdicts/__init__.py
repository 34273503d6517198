"""What `diagnostics.verdict` says of trainings that failed and that did not."""
