"""The lanes: one module each; they never import each other."""
