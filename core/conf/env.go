package conf

import (
	"regexp"
	"slices"
	"strings"
)

// environment lays the QUOIN_ variables over the tree: first those with __,
// in the order of their names, then the shortcuts.
func (l *loader) environment(others []string) {
	service := serviceVariables()
	for _, name := range sortedKeys(l.env) {
		rest, ours := strings.CutPrefix(name, envPrefix)
		_, shortcut := l.shortcuts[name]
		switch {
		case !ours || shortcut || name == "QUOIN_CONFIG" || strings.HasPrefix(name, testPrefix) || slices.Contains(others, name):
		case strings.Contains(rest, "__"):
			path := strings.ReplaceAll(strings.ToLower(rest), "__", ".")
			l.put(path, l.env[name], Origin{Name: "environment " + name})
		case !service.MatchString(rest):
			l.tree.strays = append(l.tree.strays, name)
		}
	}
	for _, name := range sortedKeys(l.shortcuts) {
		if value := l.env[name]; value != "" {
			l.put(l.shortcuts[name], value, Origin{Name: "environment " + name})
		}
	}
}

// serviceVariables matches what Kubernetes puts into every container of a
// namespace with a Service whose name starts with "quoin": QUOIN_SERVICE_HOST,
// QUOIN_PORT, QUOIN_DB_PORT_5432_TCP_ADDR. Nobody meant them as configuration.
func serviceVariables() *regexp.Regexp {
	return regexp.MustCompile(`(^|_)(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)
}

// variable is the name in the environment of a dotted key.
func variable(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "__"))
}

// strayFindings tells the QUOIN_ variables that stand for nothing, with the
// key or shortcut that was probably meant.
func (t *Tree) strayFindings(root *shape) []Finding {
	var findings []Finding
	candidates := append([]string(nil), t.singles...)
	root.eachPath("", func(path string) { candidates = append(candidates, variable(path)) })
	for _, name := range t.strays {
		message := "unknown variable"
		if near := Nearest(name, candidates); near != "" {
			message += "; did you mean " + near + "?"
		} else {
			message += "; keys are QUOIN_<SECTION>__<KEY> with two underscores between levels"
		}
		findings = append(findings, Finding{Origin: Origin{Name: "environment " + name}, Message: message})
	}
	return findings
}
