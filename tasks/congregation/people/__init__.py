"""Members, whom to call, what they agreed to, and their groups."""
