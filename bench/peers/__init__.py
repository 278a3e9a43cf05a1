"""The same no-op, done by what people would pick instead.

The modules run under the peers' own Python, where Carillon is not installed; each has
``fill(n)`` and, where there are tables to make, ``install()``.
"""
