"""What operators may do, one verb each; every verb leaves an audit entry."""
