"""Webhooks: whoever subscribes hears of everything, signed, in spite of outages."""
