"""The engine: lanes, rules and rows.  It knows neither Flask nor HTML."""
