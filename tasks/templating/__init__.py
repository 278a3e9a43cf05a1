"""Operators' templates: Liquid, with every limit that untrusted text needs.

``environment`` parses and renders, ``checking`` says what is wrong when a rule is
saved, ``filters`` and ``dates`` hold what may stand behind a ``|``.
"""
