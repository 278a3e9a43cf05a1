"""What requests give and what answers hold, as pydantic models."""
