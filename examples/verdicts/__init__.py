"""Study of verdicts on trainings that failed and on others that converged."""
