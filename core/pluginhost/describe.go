package pluginhost

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// maxOffers bounds how many tools, resources and commands a plugin may have of
// each.
const maxOffers = 200

// checkOffers tells what is wrong with what a plugin offers.
func checkOffers(d *pluginv1.Description) error {
	if len(d.Tools) > maxOffers || len(d.Resources) > maxOffers || len(d.Commands) > maxOffers {
		return fmt.Errorf("the plugin offers more than %d tools, resources or commands", maxOffers)
	}
	names := map[string]bool{}
	for _, t := range d.Tools {
		name := PublicName(d.Name, t.Name)
		switch {
		case !toolName.MatchString(name):
			return fmt.Errorf("the tool %.80q needs a name of letters, digits, _ and -, at most 64 with that of the plugin", t.Name)
		case names[name]:
			return fmt.Errorf("the plugin has two tools called %q", name)
		case !isObject(t.InputSchema):
			return fmt.Errorf("the tool %q has no JSON Schema of an object for its arguments", t.Name)
		}
		names[name] = true
	}
	for _, c := range d.Commands {
		if !toolName.MatchString(c.Name) || names["command "+c.Name] {
			return fmt.Errorf("the command %.80q needs a name of letters, digits, _ and -, and only one may have it", c.Name)
		}
		names["command "+c.Name] = true
	}
	for _, r := range d.Resources {
		if scheme, _, ok := strings.Cut(r.Uri, "://"); !ok || scheme == "" || names["resource "+r.Uri] {
			return fmt.Errorf("the resource %.80q needs a URI such as %s://today, and only one may have it", r.Uri, d.Name)
		}
		names["resource "+r.Uri] = true
	}
	return nil
}

func isObject(schema []byte) bool {
	var s struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}

// PublicName is the name of a tool among those of all plugins: that of the
// plugin and its own. A plugin's name holds no _, so no two plugins have one in
// common; a tool called like its plugin stays as it is.
func PublicName(plugin, tool string) string {
	if tool == plugin {
		return tool
	}
	return plugin + "_" + tool
}

// problemsOf makes an error of what a plugin says about its settings; nil when
// it says nothing.
func problemsOf(problems []*pluginv1.Diagnostic) error {
	if len(problems) == 0 {
		return nil
	}
	p := problem.New(problem.Invalid, "the settings of the plugin are wrong")
	for _, d := range problems[:min(len(problems), 100)] {
		p.Fields = append(p.Fields, problem.FieldError{Path: cut(d.Path, 200), Message: cut(d.Message, 500)})
	}
	slices.SortStableFunc(p.Fields, func(a, b problem.FieldError) int { return strings.Compare(a.Path, b.Path) })
	return &final{p}
}
