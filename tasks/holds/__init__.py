"""Holds: keeping things in the house, and letting them go with a plan."""
