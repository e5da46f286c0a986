//go:build !linux

package disk

import (
	"errors"
	"os"
)

// openNameless is not possible here.
func openNameless(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func link(*os.File, string) error { return errors.ErrUnsupported }
