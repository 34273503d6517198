"""Study of rules that adapt loss weights, by term and by point."""
