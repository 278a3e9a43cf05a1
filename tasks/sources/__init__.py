"""Where bookings, episodes and guests come from without a line of code."""
