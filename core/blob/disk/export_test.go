package disk

// Named makes drafts files with names, as where the system has no others.
func (s *Store) Named() *Store {
	s.nameless = false
	return s
}
