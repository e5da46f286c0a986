package s3

// Told is told.
var Told = told
