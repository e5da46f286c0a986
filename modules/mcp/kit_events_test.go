package mcp_test

import (
	"bufio"
	"io"
	"strings"
)

// dataOnly gives what stands in the data of a stream of events.
type dataOnly struct {
	r    io.Reader
	scan *bufio.Scanner
	rest []byte
}

// Read implements io.Reader.
func (d *dataOnly) Read(p []byte) (int, error) {
	if d.scan == nil {
		d.scan = bufio.NewScanner(d.r)
	}
	for len(d.rest) == 0 {
		if !d.scan.Scan() {
			return 0, io.EOF
		}
		if data, ok := strings.CutPrefix(d.scan.Text(), "data: "); ok {
			d.rest = []byte(data)
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}
