"""Rules, events and dates: what producers call, and what lanes carry out."""
