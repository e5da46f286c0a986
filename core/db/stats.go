package db

// Stats are the connections of a DB: to PostgreSQL, or the readers of SQLite.
type Stats struct {
	InUse int64
	Idle  int64
	Max   int64
}

// Stats tells how the connections are used now.
func (d *DB) Stats() Stats { return d.backend.stats() }

func (p *postgres) stats() Stats {
	s := p.pool.Stat()
	return Stats{int64(s.AcquiredConns()), int64(s.IdleConns()), int64(s.MaxConns())}
}

func (l *lite) stats() Stats {
	s := l.read.Stats()
	return Stats{int64(s.InUse), int64(s.Idle), int64(s.MaxOpenConnections)}
}
