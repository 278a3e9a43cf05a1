"""The ways out of the house: mail and HTTP, each with a deadline and a guard."""
