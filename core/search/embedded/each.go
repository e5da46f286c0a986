package embedded

import (
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

func (v *view) eachField(q *search.Each, sp *space) (op, error) {
	fields, err := v.expandFields(q.Fields, q.Path, sp)
	if err != nil {
		return nil, err
	}
	o := &best{run: v.run, sp: sp, tie: float32(q.TieBreaker), boost: float32(q.Boost)}
	for _, f := range fields {
		inner, err := v.compile(q.In(f), sp)
		if err != nil {
			if q.Lenient && problem.Is(err, problem.Invalid) {
				continue
			}
			return nil, err
		}
		o.ops = append(o.ops, inner)
	}
	if len(o.ops) == 0 {
		return none{}, nil
	}
	return o, nil
}
