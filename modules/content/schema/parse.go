package schema

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// Parse reads a content type, either the export form of the original
// implementation ({"class":…,"arguments":[],"properties":{…},"replaced":[]})
// or our short form ({"name":…,"fields":[…]}, see ParseShort). Errors are
// problem.Invalid or problem.TooLarge with the path of the place.
func Parse(export []byte) (*ContentType, error) {
	if err := rawjson.CheckObject(export, rawjson.Limits{Depth: parseDepth}); err != nil {
		return nil, err
	}
	if _, ok := rawjson.Get(export, "properties"); !ok {
		return ParseShort(export)
	}
	p, err := properties(export, "ContentType")
	if err != nil {
		return nil, err
	}
	ct := &ContentType{
		Name: p.str("name"), Singular: p.str("singularName"), Plural: p.str("pluralName"),
		Description: p.str("description"), Environment: p.str("environment"), OrderKey: p.int("orderKey"),
		Active: true, Deleted: p.flag("deleted"), AskForOUUID: p.flag("askForOuuid"), AutoPublish: p.flag("autoPublish"),
		Roles: p.dict("roles"), VersionFields: p.dict("versionFields"), Fields: p.dict("fields"),
		VersionTags: p.strings("versionTags"),
	}
	if rawjson.KindOf(p.get("active")) == rawjson.Bool {
		ct.Active = p.flag("active")
	}
	for old, key := range map[string]string{"labelField": "label", "circlesField": "circles", "assetField": "asset"} {
		if s := p.str(old); s != "" && ct.Fields[key] == "" {
			ct.Fields[key] = s
		}
	}
	ct.defaults()
	r := reader{}
	if ct.Root, err = r.field(p.get("fieldType"), "", 0); err != nil {
		return nil, err
	}
	ct.Warnings = r.warnings
	return ct, ct.check()
}

// ParseForm reads a named form, in the export form or as
// {"name":…,"label":…,"fields":[…]}.
func ParseForm(export []byte) (*Form, error) {
	if err := rawjson.CheckObject(export, rawjson.Limits{Depth: parseDepth}); err != nil {
		return nil, err
	}
	r := reader{}
	form := &Form{}
	if _, ok := rawjson.Get(export, "properties"); !ok {
		return r.shortForm(export)
	}
	p, err := properties(export, "Form")
	if err != nil {
		return nil, err
	}
	form.Name, form.Label = p.str("name"), p.str("label")
	if form.Root, err = r.field(p.get("fieldType"), "", 0); err != nil {
		return nil, err
	}
	form.Warnings = r.warnings
	if form.Name == "" {
		return nil, problem.Field(problem.Invalid, "name", "a form needs a name")
	}
	return form, nil
}

// properties unwraps the export envelope and checks that it is of the class.
func properties(export []byte, class string) (opts, error) {
	o := opts(export)
	name := o.str("class")
	if name[strings.LastIndexByte(name, '\\')+1:] != class {
		return nil, problem.Field(problem.Invalid, "class", "must be the export of a %s, not %q", class, clip(name))
	}
	p := o.sub("properties")
	if rawjson.KindOf(p) != rawjson.Map {
		return nil, problem.Field(problem.Invalid, "properties", "must be an object")
	}
	return p, nil
}

func (ct *ContentType) defaults() {
	if ct.Singular == "" {
		ct.Singular = ct.Name
	}
	if ct.Plural == "" {
		ct.Plural = ct.Singular
	}
}

func (ct *ContentType) check() error {
	if !typeName.MatchString(ct.Name) {
		return problem.Field(problem.Invalid, "name",
			"%q is no name of a content type: letters, digits, - and _, at most 100, starting with a letter", clip(ct.Name))
	}
	return nil
}

// reader collects what is told while a tree is read.
type reader struct {
	count    int
	warnings []problem.FieldError
}

func (r *reader) warn(path, code, message string) {
	r.warnings = append(r.warnings, problem.FieldError{Path: path, Code: code, Message: message})
}

// enter counts a field and refuses trees beyond the bounds.
func (r *reader) enter(path string, depth int) error {
	r.count++
	if depth > maxFieldDepth {
		return problem.Field(problem.TooLarge, path, "fields nest deeper than %d levels", maxFieldDepth)
	}
	if r.count > maxFields {
		return problem.Field(problem.TooLarge, path, "more than %d fields", maxFields)
	}
	return nil
}

// field reads one FieldType of the export form. path is the path of the
// parent; the root is not part of paths.
func (r *reader) field(raw []byte, path string, depth int) (*Field, error) {
	p, err := properties(raw, "FieldType")
	if err != nil {
		return nil, problem.Wrap(err, problem.Invalid, "%s: no field tree of the export form", pathOr(path, "fieldType"))
	}
	f := &Field{Name: p.str("name"), Deleted: p.flag("deleted"), Description: p.str("description"), OrderKey: p.int("orderKey")}
	if depth > 0 {
		path = rawjson.Join(path, f.Name)
	}
	if err := r.enter(path, depth); err != nil {
		return nil, err
	}
	if !fieldName.MatchString(f.Name) {
		return nil, problem.Field(problem.Invalid, path, "%q is no name of a field", clip(f.Name))
	}
	t, known := typeByName(p.str("type"))
	f.Type = t.name
	if !known {
		f.Type = p.str("type")
		r.warn(path, "unknown_type", "the field type "+clip(f.Type)+" is not known; its data is kept as any JSON")
	}
	f.options(p.sub("options"))
	children := p.get("children")
	if rawjson.KindOf(children) == rawjson.Array {
		for it := rawjson.Iterate(children); it.Next(); {
			child, err := r.field(it.Value(), path, depth+1)
			if err != nil {
				return nil, err
			}
			f.Children = append(f.Children, child)
		}
	}
	slices.SortStableFunc(f.Children, func(a, b *Field) int { return a.OrderKey - b.OrderKey })
	return f, nil
}

// options reads the four groups of options of the export form.
func (f *Field) options(o opts) {
	display, mapping, restrict, extra := o.sub("displayOptions"), o.sub("mappingOptions"), o.sub("restrictionOptions"), o.sub("extraOptions")
	f.Label = display.str("label")
	for _, s := range []string{extra.str("description"), display.str("helptext")} {
		if f.Description == "" {
			f.Description = s
		}
	}
	f.Required, f.RequiredIf = restrict.flag("mandatory"), restrict.str("mandatory_if")
	f.MinimumRole = restrict.str("minimum_role")
	f.Min, f.Max = restrict.num("min"), restrict.num("max")
	f.Multiple = display.flag("multiple") || display.flag("multidate")
	if display.str("linked_collection") == "" {
		f.Choices, f.ChoiceLabels = notEmpty(display.lines("choices"), display.lines("labels"))
	}
	f.Types = display.commas("type")
	f.Format = mapping.str("format")
	f.Values, f.ValueLabels = notEmpty(display.lines("values"), display.lines("labels"))
	f.Form = display.str("form")
	f.From, f.To, f.Nested = mapping.str("fromDateMachineName"), mapping.str("toDateMachineName"), mapping.flag("nested")
	f.Mapping = readMapping(mapping)
}

func readMapping(o opts) Mapping {
	m := Mapping{
		Kind: o.str("type"), Analyzer: o.str("analyzer"), SearchAnalyzer: o.str("search_analyzer"),
		CopyTo: o.commas("copy_to"), FieldData: o.flag("fielddata"),
	}
	index := o.get("index")
	m.NotAnalyzed = o.str("index") == "not_analyzed"
	m.NoIndex = o.str("index") == "no" || string(index) == "false"
	if s := o.str("mappingOptions"); s != "" && rawjson.CheckObject([]byte(s), rawjson.Limits{}) == nil {
		m.JSON = rawjson.Compact(nil, rawjson.Object([]byte(s)))
	}
	return m
}

// notEmpty drops the empty values, and their labels with them.
func notEmpty(values, labels []string) (v, l []string) {
	for i, s := range values {
		if s == "" {
			continue
		}
		v = append(v, s)
		if i < len(labels) {
			l = append(l, labels[i])
		}
	}
	return v, l
}

func pathOr(path, instead string) string {
	if path == "" {
		return instead
	}
	return path
}

// clip keeps hostile names short in messages.
func clip(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}
