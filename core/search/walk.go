package search

// Inside gives the clauses directly inside a clause, those that must not match
// included.
func Inside(q Query) []Query {
	var out []Query
	add := func(list ...Query) {
		for _, c := range list {
			if c != nil {
				out = append(out, c)
			}
		}
	}
	switch q := q.(type) {
	case *Bool:
		add(q.Must...)
		add(q.Should...)
		add(q.Filter...)
		add(q.MustNot...)
	case *Nested:
		add(q.Query)
	case *ConstantScore:
		add(q.Filter)
	case *DisMax:
		add(q.Queries...)
	case *Boosting:
		add(q.Positive, q.Negative)
	case *FunctionScore:
		add(q.Query)
		for _, f := range q.Functions {
			add(f.Filter)
		}
	}
	return out
}

// Walk calls visit with a clause and all inside it, outer ones first; nil is
// no clause.
func Walk(q Query, visit func(q Query)) {
	if q == nil {
		return
	}
	visit(q)
	for _, inner := range Inside(q) {
		Walk(inner, visit)
	}
}
