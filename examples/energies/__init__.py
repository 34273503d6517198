"""Study of energies and materials, compared with strong forms."""
