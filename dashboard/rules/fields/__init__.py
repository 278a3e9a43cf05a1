"""The groups of fields that a rule's form is made of; each has a partial of its own."""
