"""Charts of lanes and rules, drawn on the server from the lane ``rollups``' counts."""
