package mcp

import "context"

func (s *Service) accountTools() []*tool {
	if s.Profiles == nil {
		return nil
	}
	return []*tool{{
		name: "get_current_user", title: "Current user", description: "The user on whose behalf you act, with roles.",
		input: none, output: `{"type":"object","properties":{"user":{"type":"object","properties":{"id":{"type":"integer"},"username":{"type":"string"},` +
			`"displayName":{"type":"string"},"email":{"type":"string"},"roles":{"type":"array","items":{"type":"string"}},` +
			`"circles":{"type":"array","items":{"type":"string"}}},"required":["id","username","roles"]}},"required":["user"]}`,
		readOnly: true, idempotent: true, full: true, compact: true, offered: always, run: s.runUser,
	}}
}

func (s *Service) runUser(ctx context.Context, _ *call) (*result, error) {
	profile, err := s.Profiles.Profile(ctx)
	if err != nil {
		return nil, err
	}
	return &result{structured: append(append([]byte(`{"user":`), profile...), '}')}, nil
}
