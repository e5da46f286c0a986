package user

import "context"

// TellRefusals does what the background does every minute.
func (s *Service) TellRefusals(ctx context.Context) error { return s.tellRefusals(ctx) }
