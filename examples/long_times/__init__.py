"""Study of long times: time windows and one interval with the same CPU time."""
