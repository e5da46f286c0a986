package s3_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/minio/minio-go/v7"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/blob/s3"
)

// What a server answers keeps its name however it is wrapped: reading a piece
// fails inside of the request that sends it on.
func TestErrorsKeepTheirNames(t *testing.T) {
	gone := minio.ErrorResponse{Code: "NoSuchKey", StatusCode: 404}
	names := []error{blob.ErrNotFound, blob.ErrFull, blob.ErrUnavailable}
	for _, c := range []struct {
		err  error
		name int // its place among the names
	}{
		{gone, 0},
		{fmt.Errorf("part 1: %w", gone), 0},
		{errors.Join(gone, errors.New("not aborted")), 0},
		{fmt.Errorf("part 1: %w", s3.Told(gone)), 0},
		{minio.ErrorResponse{Code: "XMinioStorageFull", StatusCode: 507}, 1},
		{minio.ErrorResponse{Code: "SlowDown", StatusCode: 503}, 2},
		{errors.New("connection refused"), 2},
	} {
		for i, name := range names {
			if got := s3.Told(c.err); errors.Is(got, name) != (i == c.name) {
				t.Errorf("%v is %v", c.err, got)
			}
		}
	}
}
