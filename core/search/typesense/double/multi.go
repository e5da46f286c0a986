package double

// multiSearch answers several searches at once; one that fails has its error
// in its place.
func (s *Server) multiSearch(c *call) (int, any, *failure) {
	searches, err := s.readSearches(c.body)
	if err != nil {
		return 0, nil, err
	}
	limit, err := c.query.number("limit_multi_searches", maxSearches)
	if err != nil {
		return 0, nil, err
	}
	if len(searches) > limit {
		return 0, nil, fail(400, "Number of multi searches exceeds `limit_multi_searches` parameter.")
	}
	results := []any{}
	for _, p := range searches {
		p.defaults(c.query)
		out, err := s.run(p)
		switch {
		case err == nil:
			results = append(results, out)
		case err.code == dropped:
			return 0, nil, err
		default:
			results = append(results, map[string]any{"code": err.code, "error": err.message})
		}
	}
	return 200, map[string]any{"results": results}, nil
}
