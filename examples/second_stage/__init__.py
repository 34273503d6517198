"""What a second-order optimizer reaches after Adam, problem by problem."""
