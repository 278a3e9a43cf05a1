"""Campaigns: what their start and end do to the work on territories."""
