package backup

// ParseRow and AppendRow are what a line of a table is read and written with.
var (
	ParseRow  = parseRow
	AppendRow = appendRow
)
