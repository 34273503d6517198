"""Study of second-order optimizers after Adam, problem by problem."""
