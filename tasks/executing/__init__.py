"""The steps of an execution: prepare, act, judge, settle."""
