"""A congregation's data as an archive: written, looked at, and taken over.

``entities`` says which tables travel; ``directory`` and ``reading`` which archives are
read at all; ``layouts`` what others' archives call things; ``staging`` and
``applying`` how rows come in, in one transaction.
"""
