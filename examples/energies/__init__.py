"""Study of energies and materials, beside strong forms."""
