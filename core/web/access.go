package web

// Access says who may call one operation under one of its paths.
type Access struct {
	Operation, Module, Method, Path string
	Public                          bool
	Roles                           []string // all needed
	OneOf                           []string // one of them besides
}

// Access lists who may call what, by path and method.
func (r *Router) Access() []Access {
	var all []Access
	for i := range r.opt.Operations {
		o := &r.opt.Operations[i]
		for _, p := range o.paths() {
			all = append(all, Access{o.ID, o.Module, o.Method, p, o.Public, o.roles(), o.OneOf})
		}
	}
	return all
}
